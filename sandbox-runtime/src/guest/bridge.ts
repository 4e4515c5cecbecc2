/**
 * Functions of the process around the isolate. They live in closures only: guest code can never
 * reach one.
 */
export interface Bridge {
  post(kind: number, run: number, a?: string | number, b?: string | number | Uint8Array, c?: string | Uint8Array): void;
  ask(kind: number, a: string | number, b?: Uint8Array, c?: Uint8Array): Uint8Array | string;
  /**
   * Blocks this isolate until the engine answered. `v` + JSON, `u` (no such key) or `e` + message.
   */
  dbGet(run: number, key: string): string;
}

/**
 * Undefined where the process has others to serve first: to be asked again, when it was waited for.
 */
export type AskOnce = (kind: number, a: unknown, b: unknown, c: unknown) => Uint8Array | string | undefined;

/** How the process hands over what blocks; turned into plain functions before guest code runs. */
export interface BlockingReference {
  applySyncPromise(receiver: undefined, args: [number, string] | []): unknown;
}
