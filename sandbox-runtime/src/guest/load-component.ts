import { LOADED_EXPORT } from './builtin-names.ts';
import type { ComponentFunction, LoadedComponent } from './run-instance.ts';

/** The component of a module: its default export, also where a bundler wrapped a CommonJS module. */
export function defaultExportOf(namespace: { default?: unknown; [LOADED_EXPORT]?: unknown }): unknown {
  let exported: unknown;
  try {
    void namespace[LOADED_EXPORT];
    exported = namespace.default;
  } catch (cause) {
    throw new Error('The component did not finish loading: a top-level await was never settled', { cause });
  }
  const inner = exported as { __esModule?: unknown; default?: unknown } | null | undefined;
  // oxlint-disable-next-line no-underscore-dangle -- the name bundlers have agreed on
  return inner?.__esModule === true && inner.default !== undefined ? inner.default : exported;
}

export function readComponent(exported: unknown): LoadedComponent {
  if (typeof exported !== 'object' || exported === null)
    throw new TypeError('The module has no default export that is a component object');
  const { run, methods, hooks } = exported as Record<string, unknown>;
  if (typeof run !== 'function') throw new TypeError('The component has no run method');
  const entries = typeof methods === 'object' && methods !== null ? Object.entries(methods) : [];
  return {
    run: run as ComponentFunction,
    methods: entries.filter((entry): entry is [string, ComponentFunction] => typeof entry[1] === 'function'),
    hooks: typeof hooks === 'object' && hooks !== null ? (hooks as Record<string, unknown>) : {},
  };
}
