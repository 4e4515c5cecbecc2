import type { ExceededLimit } from '@headwater/shared';
import type { GuestPost } from '../bridge/messages.ts';
import type { Bridge } from './bridge.ts';
import { limitError, standardLimitError } from './limit-error.ts';
import { PrivateMap } from './private-map.ts';
import type { RunContext, RunTracker } from './run-context.ts';

type CallPost = Extract<GuestPost, { kind: 'web-crypto' | 'data-store' }>;

interface PendingCall {
  context: RunContext;
  bytes: number;
  resolve: (answer: { head: string; bytes: Uint8Array }) => void;
}

/**
 * Calls that the host computes while the isolate continues. When the run ends, its promises stay
 * pending.
 */
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
    return this.#send(context, { kind: 'web-crypto', run: context.run, call: this.#nextCall++, head, bytes });
  }

  /**
   * A call on a data store, for the run that the store was given to. Answers the JSON of a
   * DataStoreAnswer.
   */
  async callStore(context: RunContext, head: string, value: string | undefined): Promise<string> {
    const call = this.#nextCall++;
    return (await this.#send(context, { kind: 'data-store', run: context.run, call, head, value })).head;
  }

  #send(context: RunContext, post: CallPost): Promise<{ head: string; bytes: Uint8Array }> {
    return new Promise((resolve) => {
      const given = post.kind === 'web-crypto' ? post.bytes : post.value;
      const size = post.head.length + (given?.length ?? 0);
      const exceeded = this.#exceededBy(context, size);
      if (exceeded !== undefined) throw post.kind === 'web-crypto' ? operationError(exceeded) : limitError(exceeded);
      this.#bytes += size;
      this.#pending.set(post.call, { context, bytes: size, resolve });
      context.open += 1;
      this.#bridge.post(post);
    });
  }

  #exceededBy({ limits: { maxOpenCalls, maxOpenCallBytes } }: RunContext, size: number): ExceededLimit | undefined {
    const open = this.#pending.size + 1;
    if (open > maxOpenCalls) return { name: 'maxOpenCalls', value: maxOpenCalls, used: open };
    const used = this.#bytes + size;
    return used > maxOpenCallBytes ? { name: 'maxOpenCallBytes', value: maxOpenCallBytes, used } : undefined;
  }

  ownerOf(call: number): RunContext | undefined {
    return this.#pending.get(call)?.context;
  }

  settle(call: number, head: string, bytes: Uint8Array): void {
    const pending = this.#pending.get(call);
    if (pending === undefined) return;
    this.#pending.delete(call);
    this.#bytes -= pending.bytes;
    pending.context.open -= 1;
    pending.resolve({ head, bytes });
  }

  dropAll(): void {
    this.#pending.clear();
    this.#bytes = 0;
  }
}

/** The error that the methods of `crypto.subtle` reject with when an operation fails. */
function operationError(limit: ExceededLimit): Error {
  return standardLimitError((message) => new DOMException(message, 'OperationError'), limit);
}
