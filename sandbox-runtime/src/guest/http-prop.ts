import type { ExceededLimit } from '@headwater/shared';
import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';
import { checkedHead } from './checked-head.ts';
import { stringifyJson, toText } from './intrinsics.ts';
import { standardLimitError } from './limit-error.ts';
import { refuseInForm, type RunContext, type RunTracker } from './run-context.ts';
import { exact, utf8LengthUpTo } from './utf8.ts';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAKS = /[\0\r\n]/;

export interface HttpProp {
  endpoint: string;
  respond(response?: unknown): Promise<void>;
}

/** `$.interface.http`. The answer leaves at once; the run goes on. */
export function makeHttpProp(
  bridge: Bridge,
  runs: RunTracker,
  context: RunContext,
  endpoint: string,
  warn: (message: string) => void,
): HttpProp {
  return {
    endpoint,
    respond: (response) => {
      const post = (head: string, body: string | Uint8Array): void =>
        bridge.post(POST.respond, context.run, head, body);
      return sendResponse({ runs, warn, post }, context, response);
    },
  };
}

interface ResponseWay {
  runs: RunTracker;
  warn(message: string): void;
  post(head: string, body: string | Uint8Array): void;
  /** Of an answer that names no status; absent: it must. */
  defaultStatus?: number;
}

/**
 * Checks an answer and posts it; of several in one run the first. Throws before it returns a promise: a caller that does not
 * await must see its mistake too.
 */
export function sendResponse(out: ResponseWay, context: RunContext, response: unknown): Promise<void> {
  refuseInForm(context, 'respond');
  const { head, body } = readResponse(response, out.defaultStatus);
  refuseTooLarge(head, context);
  const headJson = checkedHead(head, context.limits);
  if (context.over) return Promise.resolve();
  if (context.responded) {
    out.warn('respond was called a second time in this run; only the first answer was sent');
    return Promise.resolve();
  }
  out.runs.takeBytes(
    context,
    typeof body === 'string' ? utf8LengthUpTo(body, context.limits.maxRunOutputBytes) : body.byteLength,
  );
  context.responded = true;
  out.post(headJson, body);
  return Promise.resolve();
}

/** Refused on the other side, it would end the whole process. */
function refuseTooLarge({ headers }: ResponseHead, { limits }: RunContext): void {
  const { maxFetchHeaders, maxFetchHeaderBytes } = limits;
  if (headers.length > maxFetchHeaders)
    throw refuse({ name: 'maxFetchHeaders', value: maxFetchHeaders, used: headers.length });
  let chars = 0;
  for (let index = 0; index < headers.length; index += 1) {
    const pair = headers[index];
    chars += (pair?.[0].length ?? 0) + (pair?.[1].length ?? 0);
  }
  if (chars > maxFetchHeaderBytes)
    throw refuse({ name: 'maxFetchHeaderBytes', value: maxFetchHeaderBytes, used: chars });
}

function refuse(limit: ExceededLimit): Error {
  return standardLimitError((message) => new RangeError(message), limit);
}

interface ResponseHead {
  status: number;
  headers: [string, string][];
}

function readResponse(
  response: unknown,
  defaultStatus: number | undefined,
): { head: ResponseHead; body: string | Uint8Array } {
  if (typeof response !== 'object' || response === null) {
    throw new TypeError('respond takes an object such as { status: 200, headers: {}, body }');
  }
  const { status = defaultStatus, headers, body } = response as Record<string, unknown>;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) {
    throw new TypeError(`respond: status must be an integer from 100 to 599, not ${shown(status)}`);
  }
  const head: ResponseHead = { status, headers: readHeaders(headers) };
  return { head, body: readBody(body, head) };
}

function readHeaders(headers: unknown): [string, string][] {
  if (headers === undefined || headers === null) return [];
  if (typeof headers !== 'object') throw new TypeError(`respond: headers must be an object, not ${typeof headers}`);
  const pairs: [string, string][] = [];
  const entries = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  for (const [name, value] of entries as [string, unknown][]) {
    if (value === undefined || value === null) continue;
    if (!HEADER_NAME.test(name)) throw new TypeError(`respond: '${name.slice(0, 100)}' is not a valid header name`);
    for (const text of valuesOf(name, value)) {
      if (LINE_BREAKS.test(text)) throw new TypeError(`respond: the value of header '${name}' contains a line break`);
      pairs.push([name, text]);
    }
  }
  return pairs;
}

/** A list is one line, but for cookies: their values may have commas, so each has a line of its own. */
function valuesOf(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [toText(value)];
  return name.toLowerCase() === 'set-cookie' ? value.map((cookie) => toText(cookie)) : [value.join(', ')];
}

function readBody(body: unknown, head: ResponseHead): string | Uint8Array {
  if (body === undefined || body === null) return '';
  if (typeof body === 'string') return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  if (ArrayBuffer.isView(body))
    return exact(new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength));
  const json = bodyJson(body);
  const named = head.headers.some(([name]) => name.toLowerCase() === 'content-type');
  if (!named) head.headers.push(['content-type', 'application/json']);
  return json;
}

function bodyJson(body: unknown): string {
  let json: string | undefined;
  try {
    json = stringifyJson(body);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read';
    throw new TypeError(`respond: the body cannot be turned into JSON: ${reason}`, { cause });
  }
  if (json === undefined) throw new TypeError(`respond: the body cannot be a ${typeof body}`);
  return json;
}

function shown(value: unknown): string {
  return typeof value === 'object' || typeof value === 'symbol' ? typeof value : toText(value);
}
