import type { RunProp } from '@headwater/shared';
import { makeAppProp } from './app-prop.ts';
import { bindMembers } from './bind-methods.ts';
import type { Bridge } from './bridge.ts';
import { makeDataStoreProp } from './data-store-prop.ts';
import { makeDbProp } from './db-prop.ts';
import { emitEvent } from './emit-event.ts';
import type { GuestFetch } from './fetch.ts';
import type { HostCalls } from './host-calls.ts';
import { makeHttpProp } from './http-prop.ts';
import { makeHttpRequestProp } from './http-request-prop.ts';
import type { LoadedComponent } from './load-component.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { sqlValue } from './sql-value.ts';

export interface InstanceParts {
  bridge: Bridge;
  runs: RunTracker;
  calls: HostCalls;
  fetches: GuestFetch;
  warn(context: RunContext, message: string): void;
}

/** `this` of the component in one run, and its props alone. */
export interface RunInstance {
  self: Record<string, unknown>;
  props: Record<string, unknown>;
}

/**
 * Made anew for each run, so nothing that is put on it survives the run: props, bound methods and
 * `$emit`.
 */
export function makeInstance(
  parts: InstanceParts,
  component: LoadedComponent,
  context: RunContext,
  given: Record<string, RunProp>,
): RunInstance {
  const { bridge, runs } = parts;
  const self: Record<string, unknown> = {
    $emit(event: unknown, options?: unknown): void {
      emitEvent(bridge, runs, context, event, options, (message) => parts.warn(context, message));
    },
  };
  bindMembers(self, component.members);
  const props: Record<string, unknown> = {};
  // An app that needs no account, and one without: its methods are there all the same.
  for (const [name, { members }] of component.apps)
    if (!Object.hasOwn(given, name)) props[name] = makeAppProp(members, {});
  for (const name of Object.keys(given))
    props[name] = makeProp(parts, component, context, name, given[name] as RunProp);
  for (const name of Object.keys(props)) {
    // Also over a method of that name that is a getter.
    const value = props[name];
    Object.defineProperty(self, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return { self, props };
}

function makeProp(
  parts: InstanceParts,
  component: LoadedComponent,
  context: RunContext,
  name: string,
  prop: RunProp,
): unknown {
  const { bridge, runs } = parts;
  switch (prop.kind) {
    case 'value':
      return component.props.get(name)?.definition['type'] === 'sql' ? sqlValue(prop.value) : prop.value;
    case 'http':
      return makeHttpProp(bridge, runs, context, prop.endpoint, (message) => parts.warn(context, message));
    case 'timer': {
      const { kind: _, ...configured } = prop;
      return configured;
    }
    case 'db':
      return makeDbProp(bridge, runs, context);
    case 'app':
      return makeAppProp(component.apps.get(name)?.members ?? [], prop.auth);
    case 'data-store':
      return makeDataStoreProp(parts.calls, context, prop.id);
    case 'http-request':
      return makeHttpRequestProp(parts.fetches, prop.request);
    case 'template':
      throw new TypeError(`The prop '${name}' has expressions, which only a step of a workflow can have`);
  }
}
