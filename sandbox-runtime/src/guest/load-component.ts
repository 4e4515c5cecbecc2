import type { LoadedApp } from './app-prop.ts';
import { type ComponentFunction, type Member, readMethods } from './bind-methods.ts';
import { LOADED_EXPORT } from './builtin-names.ts';
import { applyFunction } from './intrinsics.ts';
import { isObjectValue, type ResolvedProp, resolveProp } from './resolve-prop.ts';

/** The default export of a component, as far as running it needs it. */
export interface LoadedComponent {
  run: ComponentFunction;
  members: Member[];
  hooks: Record<string, unknown>;
  additionalProps: ComponentFunction | undefined;
  /** By the names of the props. */
  props: Map<string, ResolvedProp>;
  apps: Map<string, LoadedApp>;
}

/**
 * The component of a module: its default export, also where a bundler wrapped a CommonJS module.
 */
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

export function readExportedComponent(exported: unknown): LoadedComponent {
  if (typeof exported !== 'object' || exported === null)
    throw new TypeError('The module has no default export that is a component object');
  const { run, methods, hooks, props, additionalProps } = exported as Record<string, unknown>;
  if (typeof run !== 'function') throw new TypeError('The component has no run method');
  if (isGenerator(run))
    throw new TypeError('run is a generator function, and calling it runs nothing: make it async run()');
  const resolved = readProps(props);
  return {
    run: run as ComponentFunction,
    members: readMethods(methods),
    hooks: typeof hooks === 'object' && hooks !== null ? (hooks as Record<string, unknown>) : {},
    additionalProps: typeof additionalProps === 'function' ? (additionalProps as ComponentFunction) : undefined,
    props: resolved,
    apps: readApps(props, resolved),
  };
}

const { toString } = Object.prototype;

/** Called, it would answer a generator at once, and nothing of it would ever run. */
export function isGenerator(run: unknown): boolean {
  return typeof run === 'function' && GENERATORS.includes(applyFunction(toString, run, []) as string);
}

const GENERATORS = ['[object GeneratorFunction]', '[object AsyncGeneratorFunction]'];

function readProps(props: unknown): Map<string, ResolvedProp> {
  const resolved = new Map<string, ResolvedProp>();
  if (!isObjectValue(props)) return resolved;
  for (const name of Object.keys(props)) {
    const prop = resolveProp(props[name]);
    if (prop !== undefined) resolved.set(name, prop);
  }
  return resolved;
}

function readApps(props: unknown, resolved: Map<string, ResolvedProp>): Map<string, LoadedApp> {
  const apps = new Map<string, LoadedApp>();
  for (const [name, { definition }] of resolved) {
    if (definition['type'] !== 'app') continue;
    const own = (props as Record<string, unknown>)[name];
    const app = isObjectValue(own) ? own : definition;
    apps.set(name, { app, slug: definition['app'], members: readMethods(definition['methods']) });
  }
  return apps;
}
