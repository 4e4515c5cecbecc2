/** Functions of the process around the isolate. They live in closures only: guest code can never reach one. */
export interface Bridge {
  post(kind: number, run: number, a?: string | number, b?: string | number | Uint8Array, c?: string | Uint8Array): void;
  ask(kind: number, a: string | number, b?: Uint8Array, c?: Uint8Array): Uint8Array | string;
  /** Blocks this isolate until the engine answered. `v` + JSON, `u` (no such key) or `e` + message. */
  dbGet(run: number, key: string): string;
}

/** How the process hands over the blocking call; turned into a plain function before guest code runs. */
export interface BlockingReference {
  applySyncPromise(receiver: undefined, args: [number, string]): unknown;
}
