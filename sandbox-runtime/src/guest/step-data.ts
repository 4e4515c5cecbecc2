import type { StepText } from '../bridge/step-input.ts';
import { parseJson } from './intrinsics.ts';

const defineProperty: (target: object, name: string, descriptor: object) => object = Object.defineProperty;
/**
 * Longer texts are parsed when they are asked for: at the end of a long workflow most of them never
 * are.
 */
const MAX_EAGER_CHARS = 16 * 1024;

/**
 * `steps` of one run. Each run gets objects of its own, and a name of the prototype is a name like
 * any other.
 */
export function makeSteps(texts: readonly StepText[]): Record<string, unknown> {
  const steps: Record<string, unknown> = {};
  for (let index = 0; index < texts.length; index += 1) {
    const [namespace, exports] = texts[index] as StepText;
    if (exports.length > MAX_EAGER_CHARS) defineLazily(steps, namespace, exports);
    else define(steps, namespace, parseJson(exports));
  }
  return steps;
}

function define(steps: object, namespace: string, value: unknown): unknown {
  defineProperty(steps, namespace, { __proto__: null, value, enumerable: true, configurable: true, writable: true });
  return value;
}

function defineLazily(steps: object, namespace: string, exports: string): void {
  const get = (): unknown => define(steps, namespace, parseJson(exports));
  const set = (value: unknown): unknown => define(steps, namespace, value);
  defineProperty(steps, namespace, { __proto__: null, get, set, enumerable: true, configurable: true });
}
