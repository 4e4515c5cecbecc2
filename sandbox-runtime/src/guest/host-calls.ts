import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';
import { PrivateMap } from './private-map.ts';
import type { RunContext, RunTracker } from './run-context.ts';

/** Calls in flight and what they hold together: the process takes them from a queue that has no bound of its own. */
const MAX_CALLS = 1_000;
const MAX_BYTES = 48 * 1024 * 1024;

interface PendingCall {
  context: RunContext;
  bytes: number;
  resolve: (answer: { head: string; bytes: Uint8Array }) => void;
}

/** What is worked out beside the isolate while it goes on. A call ends with its run: its promise then stays open. */
export class HostCalls {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;
  readonly #pending = new PrivateMap<number, PendingCall>();
  #nextCall = 1;
  #bytes = 0;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  /** A call of `crypto.subtle`, for the run that is being executed. */
  call(head: string, bytes: Uint8Array<ArrayBuffer>): Promise<{ head: string; bytes: Uint8Array }> {
    const context = this.#runs.current();
    if (context === undefined) return Promise.reject(new TypeError('This can be used during a run only'));
    return this.#send(POST.webCrypto, context, head, bytes);
  }

  /** A call on a data store, for the run that the store was given to. Answers the JSON of a DataStoreAnswer. */
  async callStore(context: RunContext, head: string, valueJson: string | undefined): Promise<string> {
    return (await this.#send(POST.dataStore, context, head, valueJson)).head;
  }

  #send(
    kind: number,
    context: RunContext,
    head: string,
    bytes: string | Uint8Array<ArrayBuffer> | undefined,
  ): Promise<{ head: string; bytes: Uint8Array }> {
    return new Promise((resolve) => {
      const size = head.length + (bytes?.length ?? 0);
      if (this.#pending.size >= MAX_CALLS || this.#bytes + size > MAX_BYTES)
        throw new DOMException('Too many calls at the same time, or too much data', 'OperationError');
      this.#bytes += size;
      const call = this.#nextCall++;
      this.#pending.set(call, { context, bytes: size, resolve });
      this.#bridge.post(kind, context.run, call, head, bytes);
    });
  }

  ownerOf(call: number): RunContext | undefined {
    return this.#pending.get(call)?.context;
  }

  settle(call: number, head: string, bytes: Uint8Array): void {
    const pending = this.#pending.get(call);
    if (pending === undefined) return;
    this.#pending.delete(call);
    this.#bytes -= pending.bytes;
    pending.resolve({ head, bytes });
  }

  dropAll(): void {
    this.#pending.clear();
    this.#bytes = 0;
  }
}
