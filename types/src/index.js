/*
 * Run-time code of the package. The server bundles saved components with its own copy
 * (sandbox-runtime/src/builder/own-packages.ts), whatever version is installed next to them.
 */

/**
 * @template T
 * @param {T} source
 */
export const defineSource = (source) => source;

/**
 * @template T
 * @param {T} action
 */
export const defineAction = (action) => action;

/**
 * With an app it answers the app; without one, where only the type of its account was given, it
 * answers itself.
 *
 * @param {unknown} [app]
 * @returns {unknown}
 */
export const defineApp = (app) => app ?? defineApp;

export class ConfigurationError extends Error {
  name = 'ConfigurationError';
}
