import { POST } from '../protocol/isolate-calls.ts';
import type { FetchOutcome } from '../sandbox.ts';
import type { Bridge } from './bridge.ts';
import { parseJson, stringifyOwn } from './intrinsics.ts';
import type { RunContext, RunTracker } from './run-context.ts';

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
  failed(message: string): void;
}

interface PendingRequest extends RawHandlers {
  context: RunContext;
}

/** Requests as the modules http and https make them: redirects are the caller's, and nothing is read into the headers. */
export class RawRequests {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;
  readonly #pending = new Map<number, PendingRequest>();
  #nextCall = FIRST_CALL;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  get maxBodyBytes(): number {
    return this.#runs.limits.maxFetchRequestBytes;
  }

  /** Answers how to abort it. Throws when the run may not make another request. */
  send(request: RawRequest, handlers: RawHandlers): () => void {
    const context = this.#take();
    const call = this.#nextCall++;
    this.#pending.set(call, { ...handlers, context });
    const { url, method, headers, body } = request;
    const head = stringifyOwn({ url, method, redirect: 'manual', headers });
    if (body === undefined || body.length === 0) this.#bridge.post(POST.fetch, context.run, call, head);
    else this.#bridge.post(POST.fetch, context.run, call, head, new Uint8Array(body));
    return () => {
      if (this.#forget(call) !== undefined) this.#bridge.post(POST.fetchAbort, context.run, call);
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
    const head = parseJson(headJson) as ResponseHead | { ok: false; message: string };
    if (head.ok) pending.answered(head, body);
    else pending.failed(head.message);
  }

  dropAll(): void {
    this.#pending.clear();
  }

  #take(): RunContext {
    const context = this.#runs.current();
    if (context === undefined) throw new Error('Requests can be made during a run only, not while the component loads');
    const { maxFetchesInFlightPerRun, maxFetchesPerRun } = this.#runs.limits;
    if (context.fetchesInFlight >= maxFetchesInFlightPerRun)
      throw new Error(`A run may have at most ${maxFetchesInFlightPerRun} requests in flight`);
    if (context.fetches >= maxFetchesPerRun) throw new Error(`A run may make at most ${maxFetchesPerRun} requests`);
    context.fetches += 1;
    context.fetchesInFlight += 1;
    return context;
  }

  #forget(call: number): PendingRequest | undefined {
    const pending = this.#pending.get(call);
    if (pending === undefined) return undefined;
    this.#pending.delete(call);
    pending.context.fetchesInFlight -= 1;
    return pending;
  }
}
