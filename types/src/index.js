/*
 * What there is of the package at run time. A component that is saved to a server gets the server's
 * own copy of it (sandbox-runtime/src/builder/own-packages.ts), whatever is installed beside it.
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
