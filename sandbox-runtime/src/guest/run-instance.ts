import type { RunProp } from '@headwater/shared';
import type { Bridge } from './bridge.ts';
import { makeDbProp } from './db-prop.ts';
import { emitEvent } from './emit-event.ts';
import { makeHttpProp } from './http-prop.ts';
import { applyFunction } from './intrinsics.ts';
import type { RunContext, RunTracker } from './run-context.ts';

export type ComponentFunction = (this: unknown, ...args: unknown[]) => unknown;

/** The default export of a component, as far as running it needs it. */
export interface LoadedComponent {
  run: ComponentFunction;
  methods: [string, ComponentFunction][];
  hooks: Record<string, unknown>;
}

export interface InstanceParts {
  bridge: Bridge;
  runs: RunTracker;
  warn(context: RunContext, message: string): void;
}

/** The `this` of one run: props, bound methods and `$emit`. Made anew for each, so nothing put on it survives the run. */
export function makeInstance(
  parts: InstanceParts,
  component: LoadedComponent,
  context: RunContext,
  props: Record<string, RunProp>,
): Record<string, unknown> {
  const { bridge, runs } = parts;
  const instance: Record<string, unknown> = {
    $emit: (event: unknown, options?: unknown): void => emitEvent(bridge, runs, context, event, options),
  };
  for (const [name, method] of component.methods) {
    instance[name] = (...args: unknown[]): unknown => applyFunction(method, instance, args);
  }
  for (const name of Object.keys(props)) instance[name] = makeProp(parts, context, props[name] as RunProp);
  return instance;
}

function makeProp(parts: InstanceParts, context: RunContext, prop: RunProp): unknown {
  const { bridge, runs } = parts;
  switch (prop.kind) {
    case 'value':
      return prop.value;
    case 'http':
      return makeHttpProp(bridge, runs, context, prop.endpoint, (message) => parts.warn(context, message));
    case 'timer': {
      const { kind: _, ...configured } = prop;
      return configured;
    }
    case 'db':
      return makeDbProp(bridge, runs, context);
  }
}
