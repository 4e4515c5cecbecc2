import { applyFunction } from './intrinsics.ts';

const { get, set, has, delete: remove, clear, values } = Map.prototype;
const size = Object.getOwnPropertyDescriptor(Map.prototype, 'size')?.get as () => number;
const { next } = Object.getPrototypeOf(new Map().values()) as Iterator<unknown>;

/**
 * A map for the guest's data about runs. A component that patches Map.prototype would otherwise
 * receive the map, with the contexts and pending calls of every run in its isolate.
 */
export class PrivateMap<Key, Value> {
  readonly #map = new Map<Key, Value>();

  get size(): number {
    return applyFunction(size, this.#map, []);
  }

  get(key: Key): Value | undefined {
    return applyFunction(get, this.#map, [key]) as Value | undefined;
  }

  set(key: Key, value: Value): void {
    applyFunction(set, this.#map, [key, value]);
  }

  has(key: Key): boolean {
    return applyFunction(has, this.#map, [key]);
  }

  delete(key: Key): void {
    applyFunction(remove, this.#map, [key]);
  }

  clear(): void {
    applyFunction(clear, this.#map, []);
  }

  /** The value that was set first of those that are there. */
  first(): Value | undefined {
    const iterator: unknown = applyFunction(values, this.#map, []);
    return (applyFunction(next, iterator, []) as IteratorResult<Value>).value as Value | undefined;
  }
}
