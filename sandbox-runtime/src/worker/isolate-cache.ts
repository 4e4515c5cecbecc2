import { type ComponentIsolate, componentOf } from './component-isolate.ts';

export interface CacheBounds {
  maxIsolates: number;
  maxHeapBytes: number;
}

/**
 * The warm isolates of a process, least recently used first. Only an isolate without a run in
 * flight is ever let go.
 */
export class IsolateCache {
  readonly #bounds: CacheBounds;
  readonly #byKey = new Map<string, ComponentIsolate>();
  readonly #retired = new Set<ComponentIsolate>();

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds;
  }

  /** Undefined also where the key is known with other code or memory: `add` then replaces it. */
  get(key: string, bundleHash: string, memoryMb: number): ComponentIsolate | undefined {
    const found = this.#byKey.get(key);
    if (found === undefined || found.bundleHash !== bundleHash || found.memoryMb !== memoryMb) return undefined;
    this.#byKey.delete(key);
    this.#byKey.set(key, found);
    return found;
  }

  /**
   * An older revision of the same component gets no more runs and goes when its last one has ended.
   */
  add(isolate: ComponentIsolate): void {
    const component = componentOf(isolate.key);
    for (const other of this.#byKey.values()) {
      if (componentOf(other.key) === component) this.retire(other);
    }
    this.#byKey.set(isolate.key, isolate);
    this.shrink();
  }

  remove(isolate: ComponentIsolate): void {
    if (this.#byKey.get(isolate.key) === isolate) this.#byKey.delete(isolate.key);
    this.#retired.delete(isolate);
  }

  all(): ComponentIsolate[] {
    return [...this.#byKey.values(), ...this.#retired];
  }

  /**
   * Lets idle isolates go: the retired ones, then the least recently used while there are too many
   * or they hold too much.
   */
  shrink(): void {
    for (const isolate of this.#retired) if (isolate.runs.size === 0) this.#drop(isolate);
    let heap = 0;
    for (const isolate of this.#byKey.values()) heap += isolate.heapBytes;
    for (const isolate of this.#byKey.values()) {
      if (this.#byKey.size <= this.#bounds.maxIsolates && heap <= this.#bounds.maxHeapBytes) return;
      if (isolate.runs.size > 0 || !isolate.loaded) continue;
      heap -= isolate.heapBytes;
      this.#drop(isolate);
    }
  }

  /** It gets no more runs, and goes when its last one has ended. */
  retire(isolate: ComponentIsolate): void {
    if (this.#byKey.get(isolate.key) !== isolate) return;
    this.#byKey.delete(isolate.key);
    this.#retired.add(isolate);
  }

  #drop(isolate: ComponentIsolate): void {
    this.remove(isolate);
    isolate.dead = true;
    isolate.guest.dispose();
  }
}
