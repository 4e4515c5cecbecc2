import { POST } from '../protocol/isolate-calls.ts';
import type { FetchOutcome } from '../sandbox.ts';
import type { BodyTools } from './body.ts';
import { parseJson, stringifyOwn } from './intrinsics.ts';
import { GuestRequest, GuestResponse, type RequestInit } from './request-response.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { utf8Length } from './utf8.ts';

interface PendingFetch {
  context: RunContext;
  resolve(response: GuestResponse): void;
  reject(reason: unknown): void;
}

type FetchHead = Omit<Extract<FetchOutcome, { ok: true }>, 'body'> | Extract<FetchOutcome, { ok: false }>;

/** `fetch`: the request is made outside, by the host of the run; bodies are whole in both directions. */
export class GuestFetch {
  readonly #tools: BodyTools;
  readonly #runs: RunTracker;
  readonly #pending = new Map<number, PendingFetch>();
  #nextCall = 1;

  constructor(tools: BodyTools, runs: RunTracker) {
    this.#tools = tools;
    this.#runs = runs;
  }

  fetch(input: unknown, init?: RequestInit): Promise<GuestResponse> {
    return new Promise((resolve, reject) => {
      const request = new GuestRequest(this.#tools, input, init);
      const { signal } = request;
      if (signal?.aborted === true) throw signal.reason;
      const context = this.#take(request);
      const call = this.#nextCall++;
      this.#pending.set(call, { context, resolve, reject });
      signal?.addEventListener('abort', () => this.#abort(call, signal.reason), { once: true });
      const { url, method, redirect } = request;
      const head = stringifyOwn({ url, method, redirect, headers: request.headers.pairs() });
      const body = request.peek();
      if (body === undefined) this.#tools.bridge.post(POST.fetch, context.run, call, head);
      else this.#tools.bridge.post(POST.fetch, context.run, call, head, body);
    });
  }

  ownerOf(call: number): RunContext | undefined {
    return this.#pending.get(call)?.context;
  }

  settle(call: number, headJson: string, body: Uint8Array<ArrayBuffer>): void {
    const pending = this.#forget(call);
    if (pending === undefined) return;
    const head = parseJson(headJson) as FetchHead;
    if (!head.ok) return pending.reject(new TypeError(`fetch failed: ${head.message}`));
    const { status, statusText, headers, url, redirected } = head;
    const content = body.length === 0 ? null : body;
    pending.resolve(new GuestResponse(this.#tools, content, { status, statusText, headers }, { url, redirected }));
  }

  dropAll(): void {
    this.#pending.clear();
  }

  #take(request: GuestRequest): RunContext {
    const context = this.#runs.current();
    if (context === undefined)
      throw new TypeError('fetch failed: requests can be made during a run only, not while the component loads');
    const { maxFetchesInFlightPerRun, maxFetchesPerRun, maxFetchRequestBytes, maxUrlChars } = this.#runs.limits;
    const body = request.peek() ?? '';
    const bytes = typeof body === 'string' ? utf8Length(body) : body.byteLength;
    if (bytes > maxFetchRequestBytes)
      throw new TypeError(`fetch failed: the body is ${bytes} bytes; the limit is ${maxFetchRequestBytes}`);
    if (request.url.length > maxUrlChars * 8) throw new TypeError('fetch failed: the URL is too long');
    if (context.fetchesInFlight >= maxFetchesInFlightPerRun) {
      throw new TypeError(`fetch failed: a run may have at most ${maxFetchesInFlightPerRun} requests in flight`);
    }
    if (context.fetches >= maxFetchesPerRun)
      throw new TypeError(`fetch failed: a run may make at most ${maxFetchesPerRun} requests`);
    context.fetches += 1;
    context.fetchesInFlight += 1;
    return context;
  }

  #abort(call: number, reason: unknown): void {
    const pending = this.#forget(call);
    if (pending === undefined) return;
    this.#tools.bridge.post(POST.fetchAbort, pending.context.run, call);
    pending.reject(reason);
  }

  #forget(call: number): PendingFetch | undefined {
    const pending = this.#pending.get(call);
    if (pending === undefined) return undefined;
    this.#pending.delete(call);
    pending.context.fetchesInFlight -= 1;
    return pending;
  }
}
