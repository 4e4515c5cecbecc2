import type { CountedSteps } from '../bridge/step-input.ts';
import { parseJson } from './intrinsics.ts';
import { PrivateMap } from './private-map.ts';

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
export class StepData {
  readonly #read: () => CountedSteps;
  readonly #parsed = new PrivateMap<string, unknown>();
  #steps: CountedSteps | undefined;
  #all: Record<string, unknown> | undefined;

  /** `read` is called when a step is asked for: many never are. */
  constructor(read: () => CountedSteps) {
    this.#read = read;
  }

  /** All of them, by namespace: the same object each time. */
  all(): Record<string, unknown> {
    return (this.#all ??= this.#makeAll());
  }

  /** An object that has that step, if there is one, and then perhaps no other. */
  holding(namespace: string): Record<string, unknown> {
    if (this.#all !== undefined) return this.#all;
    const { counted } = this.#counted();
    for (let index = 0, from = 0; index < counted.length; index += 1) {
      const head = counted[index] as CountedSteps['counted'][number];
      if (head[0] === namespace) return { [namespace]: this.#parse(namespace, from, head[1]) };
      from += head[1];
    }
    return this.all();
  }

  #makeAll(): Record<string, unknown> {
    const { counted } = this.#counted();
    const steps: Record<string, unknown> = {};
    for (let index = 0, from = 0; index < counted.length; index += 1) {
      const head = counted[index] as CountedSteps['counted'][number];
      const namespace = head[0];
      const chars = head[1];
      const at = from;
      if (chars > MAX_EAGER_CHARS) defineLazily(steps, namespace, () => this.#parse(namespace, at, chars));
      else define(steps, namespace, this.#parse(namespace, at, chars));
      from += chars;
    }
    return steps;
  }

  #counted(): CountedSteps {
    return (this.#steps ??= this.#read());
  }

  #parse(namespace: string, from: number, chars: number): unknown {
    if (this.#parsed.has(namespace)) return this.#parsed.get(namespace);
    const value = parseJson(this.#counted().exportsOf(from, chars));
    this.#parsed.set(namespace, value);
    return value;
  }
}

function define(steps: object, namespace: string, value: unknown): unknown {
  defineProperty(steps, namespace, { __proto__: null, value, enumerable: true, configurable: true, writable: true });
  return value;
}

function defineLazily(steps: object, namespace: string, parse: () => unknown): void {
  const get = (): unknown => define(steps, namespace, parse());
  const set = (value: unknown): unknown => define(steps, namespace, value);
  defineProperty(steps, namespace, { __proto__: null, get, set, enumerable: true, configurable: true });
}
