import { onAbort } from './abort.ts';
import { type BodyState, consumeBody, failBody } from './body.ts';
import type { Bridge } from './bridge.ts';
import { headerPairs } from './headers.ts';
import { checkedHead } from './checked-head.ts';
import { parseJson, whenSettled } from './intrinsics.ts';
import { standardLimitError } from './limit-error.ts';
import { fetchFailed, errorOfFailure, type NetworkFailure, type Peer } from './network-error.ts';
import { PrivateMap } from './private-map.ts';
import { readDataUrl } from './read-data-url.ts';
import { GuestRequest, requestBody, type RequestInit } from './request.ts';
import { type GuestResponse, makeNetworkResponse } from './response.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { releaseRequest, takeRequest, takeUpload } from './take-request.ts';
import { utf8Length } from './utf8.ts';

type Content = string | Uint8Array<ArrayBuffer>;

type FetchHead =
  | {
      ok: true;
      status: number;
      statusText: string;
      headers: [string, string][];
      url: string;
      redirected: boolean;
    }
  | ({ ok: false } & NetworkFailure);

interface PendingFetch {
  context: RunContext;
  request: GuestRequest;
  sent: boolean;
  forget: () => void;
  resolve: (response: GuestResponse) => void;
  reject: (reason: unknown) => void;
}

const DURING_RUNS = 'Requests can be made during a run only, not while the component loads';

/**
 * `fetch` of the runs. The request is made outside of the isolate, after the egress guard has
 * agreed. Bodies cross whole, in both directions: a stream as body is read to its end before the
 * request leaves.
 */
export class GuestFetch {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;
  readonly #pending = new PrivateMap<number, PendingFetch>();
  #nextCall = 1;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  fetch(input: unknown, init?: RequestInit): Promise<GuestResponse> {
    return new Promise((resolve, reject) => {
      const request = new GuestRequest(input, init);
      const { signal, url } = request;
      if (signal.aborted) throw signal.reason;
      if (url.startsWith('data:')) return resolve(makeNetworkResponse(readDataUrl(url)));
      if (!/^https?:/.test(url)) throw fetchFailed(new Error(`${new URL(url).protocol} URLs are not supported`));
      const { maxFetchUrlChars: value } = this.#runs.limits;
      if (url.length > value)
        throw standardLimitError((message) => fetchFailed(new Error(message)), {
          name: 'maxFetchUrlChars',
          value,
          used: url.length,
        });
      const context = this.#owner();
      const call = this.#nextCall++;
      takeRequest(context, () => {
        const forget = onAbort(signal, (reason) => this.#abort(call, reason));
        this.#pending.set(call, { context, request, sent: false, forget, resolve, reject });
        // While it waited for others.
        if (signal.aborted) this.#abort(call, signal.reason);
        else this.#read(call, requestBody(request));
      });
    });
  }

  ownerOf(call: number): RunContext | undefined {
    return this.#pending.get(call)?.context;
  }

  settle(call: number, headJson: string, body: Uint8Array<ArrayBuffer>): void {
    const pending = this.#forget(call);
    if (pending === undefined) return;
    const head = parseJson(headJson) as FetchHead;
    if (!head.ok) return pending.reject(errorOfFailure(head, peerOf(pending.request.url)));
    const { status, statusText, headers, url, redirected } = head;
    const hasBody = body.length > 0 || (pending.request.method !== 'HEAD' && status !== 204 && status !== 304);
    const state: BodyState | undefined = hasBody ? { source: body, used: false } : undefined;
    const { signal } = pending.request;
    onAbort(signal, (reason) => failBody(state, reason));
    pending.resolve(makeNetworkResponse({ status, statusText, headers, url, redirected, body: state }));
  }

  dropAll(): void {
    this.#pending.clear();
  }

  #owner(): RunContext {
    const context = this.#runs.current();
    if (context === undefined) throw fetchFailed(new Error(DURING_RUNS));
    return context;
  }

  /** Sends content that is already there at once, and waits only for a stream. */
  #read(call: number, body: BodyState | undefined): void {
    try {
      const content = body === undefined ? undefined : consumeBody(body);
      if (content === undefined || typeof content === 'string' || content instanceof Uint8Array)
        return this.#send(call, content);
      whenSettled(
        content,
        (read) => this.#sendRead(call, read as Content),
        (reason) => this.#fail(call, reason),
      );
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #sendRead(call: number, content: Content): void {
    try {
      this.#send(call, content);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #send(call: number, content: Content | undefined): void {
    const pending = this.#pending.get(call);
    if (pending === undefined) return;
    const { run, limits } = pending.context;
    takeUpload(pending.context, typeof content === 'string' ? utf8Length(content) : (content?.byteLength ?? 0));
    const { url, method, redirect, headers } = pending.request;
    const head = checkedHead(
      { url: url.replace(/#.*$/s, ''), method, redirect, headers: headerPairs(headers) },
      limits,
    );
    pending.sent = true;
    pending.context.open += 1;
    this.#bridge.post({ kind: 'fetch', run, call, head, body: content });
  }

  #fail(call: number, reason: unknown): void {
    this.#forget(call)?.reject(reason);
  }

  #abort(call: number, reason: unknown): void {
    const pending = this.#forget(call);
    if (pending === undefined) return;
    if (pending.sent) this.#bridge.post({ kind: 'fetch-abort', run: pending.context.run, call });
    pending.reject(reason);
  }

  #forget(call: number): PendingFetch | undefined {
    const pending = this.#pending.get(call);
    if (pending === undefined) return undefined;
    this.#pending.delete(call);
    pending.forget();
    if (pending.sent) pending.context.open -= 1;
    releaseRequest(pending.context);
    return pending;
  }
}

/** The host that was asked: after a redirect the answer knows another, which is not told here. */
function peerOf(url: string): Peer {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}
