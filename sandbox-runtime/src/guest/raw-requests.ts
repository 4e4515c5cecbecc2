import type { GuestLimits } from '../bridge/guest-limits.ts';
import type { FetchOutcome } from '../sandbox-types.ts';
import type { Bridge } from './bridge.ts';
import { checkedHead } from './checked-head.ts';
import { parseJson } from './intrinsics.ts';
import type { NetworkFailure } from './network-error.ts';
import { PrivateMap } from './private-map.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { releaseRequest, takeRequest, takeUpload } from './take-request.ts';

/** Calls from here on are of the modules http and https; those below are of `fetch`. */
const FIRST_CALL = 2 ** 40;

export type ResponseHead = Omit<Extract<FetchOutcome, { ok: true }>, 'body'>;

export interface RawRequest {
  url: string;
  method: string;
  headers: [string, string][];
  body: Uint8Array | undefined;
}

export interface RawHandlers {
  answered(head: ResponseHead, body: Uint8Array<ArrayBuffer>): void;
  failed(failure: NetworkFailure): void;
}

interface PendingRequest extends RawHandlers {
  context: RunContext;
}

/**
 * Requests as the modules http and https make them: redirects are the caller's, and nothing is read
 * into the headers.
 */
export class RawRequests {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;
  readonly #pending = new PrivateMap<number, PendingRequest>();
  #nextCall = FIRST_CALL;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  get maxBodyBytes(): number {
    return this.#limits.maxFetchRequestBytes;
  }

  /** Answers how to abort it. Throws when the run may not make another request. */
  send(request: RawRequest, handlers: RawHandlers): () => void {
    const { url, method, headers, body } = request;
    const head = checkedHead({ url, method, redirect: 'manual', headers }, this.#limits);
    const context = this.#owner();
    takeUpload(context, body?.length ?? 0);
    const call = this.#nextCall++;
    let isAborted = false;
    takeRequest(context, () => {
      if (isAborted) return releaseRequest(context);
      this.#pending.set(call, { ...handlers, context });
      context.open += 1;
      const sent = body === undefined || body.length === 0 ? undefined : new Uint8Array(body);
      this.#bridge.post({ kind: 'fetch', run: context.run, call, head, body: sent });
    });
    return () => {
      isAborted = true;
      if (this.#forget(call) !== undefined) this.#bridge.post({ kind: 'fetch-abort', run: context.run, call });
    };
  }

  owns(call: number): boolean {
    return call >= FIRST_CALL;
  }

  ownerOf(call: number): RunContext | undefined {
    return this.#pending.get(call)?.context;
  }

  settle(call: number, headJson: string, body: Uint8Array<ArrayBuffer>): void {
    const pending = this.#forget(call);
    if (pending === undefined) return;
    const head = parseJson(headJson) as ResponseHead | ({ ok: false } & NetworkFailure);
    if (head.ok) pending.answered(head, body);
    else pending.failed(head);
  }

  dropAll(): void {
    this.#pending.clear();
  }

  get #limits(): GuestLimits {
    return (this.#runs.current() ?? this.#runs).limits;
  }

  #owner(): RunContext {
    const context = this.#runs.current();
    if (context === undefined) throw new Error('Requests can be made during a run only, not while the component loads');
    return context;
  }

  #forget(call: number): PendingRequest | undefined {
    const pending = this.#pending.get(call);
    if (pending === undefined) return undefined;
    this.#pending.delete(call);
    pending.context.open -= 1;
    releaseRequest(pending.context);
    return pending;
  }
}
