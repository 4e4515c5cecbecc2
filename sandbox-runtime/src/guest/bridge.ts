import type { GuestAsk, GuestPost } from '../bridge/messages.ts';

/**
 * Functions of the process around the isolate. They live in closures only: guest code can never
 * reach one.
 */
export interface Bridge {
  post(post: GuestPost): void;
  ask(ask: GuestAsk): Uint8Array | string;
  /**
   * Blocks this isolate until the engine answered. `v` + JSON, `u` (no such key) or `e` + message.
   */
  dbGet(run: number, key: string): string;
}

/**
 * Values that may cross. Built-in code may produce others; they cross as null, which the process
 * rejects.
 */
type Crossing = string | number | Uint8Array | undefined;

/** A post as it leaves the isolate. */
export type PostValues = (code: number, run: number, a: Crossing, b?: Crossing, c?: Crossing) => void;

/**
 * An ask as it leaves the isolate. Undefined where the process has others to serve first: to be
 * asked again, when it was waited for.
 */
export type AskOnce = (code: number, a?: Crossing, b?: Crossing, c?: Crossing) => Uint8Array | string | undefined;

/** How the process hands over what blocks; turned into plain functions before guest code runs. */
export interface BlockingReference {
  applySyncPromise(receiver: undefined, args: [number, string] | []): unknown;
}
