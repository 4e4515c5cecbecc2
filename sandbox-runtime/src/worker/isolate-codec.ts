import { LIMITS } from '@headwater/shared';
import type { Transferable } from 'isolated-vm';
import { FrameError } from '../bridge/frames.ts';
import { ASK, CALL, POST } from '../bridge/isolate-codes.ts';
import { AT_ONCE, type Content, type GuestAsk, type GuestCall, type GuestPost } from '../bridge/messages.ts';
import { AskError, requireWithin } from './ask-error.ts';

/*
 * The worker's half of the wall around an isolate; the guest's is guest/isolate-codec.ts. Values
 * cross it by their position, because they cross for every event. The guest writes with built-ins
 * that its component may have changed: a value is of its type only once it was read here.
 */

/** A post from an isolate: its code, its run, and its arguments. */
export type RawPost = [code: unknown, run: unknown, a: unknown, b: unknown, c: unknown];
export type RawAsk = [code: unknown, a: unknown, b: unknown, c: unknown];

/** Asks that need computation; for the source map see `asksForSourceMap`. */
export type WorkedAsk = Exclude<GuestAsk, { kind: 'source-map' }>;

const MAX_DELAY_MS = 2 ** 31 - 1;

export function runOf([, run]: RawPost): unknown {
  return run;
}

/** `run`: the one that `runOf` names. Throws FrameError for anything that no guest sends. */
export function decodePost([code, , a, b, c]: RawPost, run: number): GuestPost {
  switch (code) {
    case POST.emit:
      return { kind: 'emit', run, event: jsonOf(a), meta: guestTextOf(b) };
    case POST.log:
      return { kind: 'log', run, head: guestTextOf(a), message: guestTextOf(b) };
    case POST.respond:
      return { kind: 'respond', run, head: guestTextOf(a), body: contentOf(b) };
    case POST.dbSet:
      return { kind: 'db-set', run, key: guestTextOf(a), value: jsonOf(b) };
    case POST.fetch:
      return { kind: 'fetch', run, call: callOf(a), head: guestTextOf(b), body: optionalOf(c, contentOf) };
    case POST.fetchAbort:
      return { kind: 'fetch-abort', run, call: callOf(a) };
    case POST.dataStore:
      return { kind: 'data-store', run, call: callOf(a), head: guestTextOf(b), value: optionalOf(c, guestTextOf) };
    case POST.webCrypto:
      return { kind: 'web-crypto', run, call: callOf(a), head: guestTextOf(b), bytes: bytesOf(c) };
    case POST.timerSet: {
      const timerKind = c === 'interval' || c === 'unref' ? c : 'timer';
      return { kind: 'timer-set', run, timer: numberOf(a), delayMs: delayOf(b), timerKind };
    }
    case POST.timerClear:
      return { kind: 'timer-clear', run, timer: numberOf(a) };
    case POST.timerRef:
      return { kind: 'timer-ref', run, timer: numberOf(a), isRef: b === 1 };
    case POST.stepExport:
      return { kind: 'step-export', run, name: guestTextOf(a), value: guestTextOf(b) };
    case POST.stepSend:
      return { kind: 'step-send', run, means: guestTextOf(a), payload: guestTextOf(b) };
    case POST.stepFlow:
      return { kind: 'step-flow', run, action: guestTextOf(a), context: optionalOf(b, guestTextOf) };
    case POST.stepRespond:
      return { kind: 'step-respond', run, head: guestTextOf(a), body: contentOf(b), immediate: c === 'now' };
    case POST.stepProps:
      return { kind: 'step-props', run, props: guestTextOf(a), cut: guestTextOf(b) };
    case POST.done:
      return { kind: 'done', run, result: optionalOf(a, guestTextOf) };
    case POST.failed:
      return { kind: 'failed', run, failure: guestTextOf(a) };
    default:
      throw new FrameError('A post of no kind');
  }
}

/** It is answered at once, and its time is not counted. */
export function asksForSourceMap([code]: RawAsk): boolean {
  return code === ASK.sourceMap;
}

/** Throws AskError for anything that no guest asks. */
export function decodeAsk([code, a, b, c]: RawAsk): WorkedAsk {
  switch (code) {
    case ASK.random:
      return { kind: 'random', bytes: typeof a === 'number' ? a : Number.NaN };
    case ASK.hash:
      return { kind: 'hash', algorithm: askedText(a), data: askedBytes(b) };
    case ASK.hmac:
      return { kind: 'hmac', algorithm: askedText(a), key: askedBytes(b), data: askedBytes(c) };
    case ASK.decodeUtf8:
      return { kind: 'decode-utf8', data: askedBytes(b) };
    case ASK.encodeUtf8:
      return { kind: 'encode-utf8', text: askedText(a) };
    case ASK.decodeText: {
      const head = askedText(a);
      const [fatal, stream] = [head.startsWith('f'), head[1] === 's'];
      return { kind: 'decode-text', label: head.slice(2), fatal, stream, data: askedBytes(b) };
    }
    case ASK.encodingName:
      return { kind: 'encoding-name', label: askedText(a) };
    case ASK.compress:
      return { kind: 'compress', order: askedText(a), data: askedBytes(b) };
    case ASK.url:
      return { kind: 'url', order: askedText(a) };
    case ASK.zlib:
      return { kind: 'zlib', head: askedText(a), data: askedBytes(b) };
    case ASK.nodeCrypto:
      return { kind: 'node-crypto', head: askedText(a), data: askedBytesOrNone(b), second: askedBytesOrNone(c) };
    default:
      throw new AskError('This is not supported');
  }
}

/** Arguments of the guest's `dispatch`. `move` transfers bytes instead of copying them. */
export function encodeCall(call: GuestCall, run: number, move: (bytes: Uint8Array) => Transferable): Transferable[] {
  switch (call.kind) {
    case 'loading':
      return [CALL.loading, run, call.limits];
    case 'load':
      return [CALL.load, run, call.namespace as Transferable];
    case 'start':
      return [CALL.start, run, call.entry, call.dedupe, call.props, call.event];
    case 'timer':
      return [CALL.timer, run, call.timer];
    case 'fetched':
      return [CALL.fetched, run, call.call, call.head, move(call.body)];
    case 'answered':
      return [CALL.answered, run, call.call, call.head, move(call.body)];
    case 'outline':
      return [CALL.outline, run];
    case 'end':
      return [CALL.end, run];
    case 'limits':
      return [CALL.limits, run, call.limits];
  }
}

/** True for a component's outline. Checks the value, because the guest can send any type. */
export function isOutline(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LIMITS.maxOutlineChars;
}

export function guestTextOf(value: unknown): string {
  if (typeof value !== 'string') throw new FrameError('A post without a text');
  return value;
}

/** The database takes no NUL, and JSON has none. */
function jsonOf(value: unknown): string {
  const text = guestTextOf(value);
  if (text.includes('\0')) throw new FrameError('JSON with a NUL character');
  return text;
}

function contentOf(value: unknown): Content {
  return value instanceof Uint8Array ? value : guestTextOf(value);
}

function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new FrameError('A post without bytes');
  return value;
}

function optionalOf<Value>(value: unknown, read: (value: unknown) => Value): Value | undefined {
  return value === undefined ? undefined : read(value);
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new FrameError('A post without a number');
  return value;
}

function callOf(value: unknown): number {
  const call = numberOf(value);
  if (!Number.isSafeInteger(call) || call < 0) throw new FrameError('An invalid call number');
  return call;
}

function delayOf(value: unknown): number {
  const delayMs = numberOf(value);
  if (delayMs !== AT_ONCE && !(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) throw new FrameError('A timer of no time');
  return delayMs;
}

function askedText(value: unknown): string {
  if (typeof value !== 'string') throw new AskError('The data must be text');
  return value;
}

function askedBytes(value: unknown): Uint8Array<ArrayBuffer> {
  if (!(value instanceof Uint8Array)) throw new AskError('The data must be bytes');
  requireWithin('maxProcessedBytes', value.byteLength);
  return value as Uint8Array<ArrayBuffer>;
}

function askedBytesOrNone(value: unknown): Uint8Array {
  return value === undefined ? new Uint8Array(0) : askedBytes(value);
}
