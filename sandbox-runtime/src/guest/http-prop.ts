import type { ExceededLimit } from '@headwater/shared';
import type { Bridge } from './bridge.ts';
import { consumeBody, readBody as readFetchBody, type ReadBody } from './body.ts';
import { checkedHead } from './checked-head.ts';
import { stringifyJson, toText } from './intrinsics.ts';
import { withoutJson } from './json-loss.ts';
import { standardLimitError } from './limit-error.ts';
import { refuseInForm, type RunContext, type RunTracker } from './run-context.ts';
import { exact, utf8LengthUpTo } from './utf8.ts';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAKS = /[\0\r\n]/;
/** Characters that a header cannot contain: each must fit into one byte, up to U+00FF. */
export const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
const DIGITS = /^\d{3}$/;

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
    respond(response) {
      const out: ResponseWay = {
        runs,
        warn,
        post(head, body) {
          bridge.post({ kind: 'respond', run: context.run, head, body });
        },
      };
      return sendResponse(out, context, response);
    },
  };
}

export interface ResponseWay {
  runs: RunTracker;
  warn(message: string): void;
  post(head: string, body: string | Uint8Array): void;
  /** Status of a response that names none. Absent: the response must name one. */
  defaultStatus?: number;
}

/**
 * Checks an answer and posts it; of several in one run the first. Throws before it returns a
 * promise: a caller that does not await must see its mistake too.
 */
export function sendResponse(out: ResponseWay, context: RunContext, response: unknown): Promise<void> {
  refuseInForm(context, 'respond');
  const { head, body } = readResponse(response, out);
  const { body: given } = response as { body?: unknown };
  if (!isData(given)) context.tellLoss?.('respond: body', given);
  refuseTooLarge(head, context);
  const headJson = checkedHead(head, context.limits);
  if (context.over) return Promise.resolve();
  if (context.responded) {
    out.warn('respond was called a second time in this run; only the first answer was sent');
    return Promise.resolve();
  }
  const isWhole = typeof body === 'string' || body instanceof Uint8Array;
  if (isWhole) postContent(out, context, headJson, body);
  context.responded = true;
  // A stream is sent when it was read to its end: the answer leaves whole.
  return isWhole ? Promise.resolve() : body.then((content) => postContent(out, context, headJson, content));
}

function postContent(out: ResponseWay, context: RunContext, head: string, content: string | Uint8Array): void {
  const { maxRunOutputBytes } = context.limits;
  const bytes = typeof content === 'string' ? utf8LengthUpTo(content, maxRunOutputBytes) : content.byteLength;
  out.runs.takeBytes(context, bytes);
  if (!context.over) out.post(head, content);
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

type Content = string | Uint8Array<ArrayBuffer>;

const FIELDS = ['status', 'headers', 'body', 'immediate'];
const WITHOUT_BODY = [204, 205, 304];

function readResponse(
  response: unknown,
  { defaultStatus, warn }: ResponseWay,
): { head: ResponseHead; body: Content | Promise<Content> } {
  if (typeof response !== 'object' || response === null || Array.isArray(response)) {
    throw new TypeError('respond takes an object such as { status: 200, headers: {}, body }');
  }
  const { status: given = defaultStatus, headers, body, ...others } = response as Record<string, unknown>;
  const unknown = Object.keys(others).find((name) => !FIELDS.includes(name));
  const status = typeof given === 'string' && DIGITS.test(given) ? Number(given) : given;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) {
    const instead = unknown === 'statusCode' ? ': statusCode is called status here' : '';
    throw new TypeError(`respond: status must be an integer from 100 to 599, not ${shown(status)}${instead}`);
  }
  if (unknown !== undefined) warn(`respond knows no ${unknown.slice(0, 100)}: it takes status, headers and body`);
  const head: ResponseHead = { status, headers: readHeaders(headers) };
  const content = readBody(body, head);
  if (WITHOUT_BODY.includes(status) && content !== '')
    warn(`respond: an answer with the status ${status} has no body; the one that was given is not sent`);
  return { head, body: content };
}

function readHeaders(headers: unknown): [string, string][] {
  if (headers === undefined || headers === null) return [];
  if (typeof headers !== 'object') throw new TypeError(`respond: headers must be an object, not ${typeof headers}`);
  const pairs: [string, string][] = [];
  for (const [name, value] of headerEntries(headers)) {
    if (!HEADER_NAME.test(name)) throw new TypeError(`respond: '${name.slice(0, 100)}' is not a valid header name`);
    for (const text of valuesOf(name, value)) {
      if (LINE_BREAKS.test(text)) throw new TypeError(`respond: the value of header '${name}' contains a line break`);
      if (UNSENDABLE.test(text))
        throw new TypeError(`respond: the value of header '${name}' has a character that a header cannot have`);
      pairs.push([name, text]);
    }
  }
  return joinedLines(pairs);
}

/** Names in other letters are one header: their values stand together, as `Headers` has them. */
function joinedLines(pairs: [string, string][]): [string, string][] {
  const known = new Map<string, [string, string]>();
  return pairs.filter((pair) => {
    const name = pair[0].toLowerCase();
    const first = known.get(name);
    if (first === undefined || name === 'set-cookie') {
      known.set(name, pair);
      return true;
    }
    first[1] += `, ${pair[1]}`;
    return false;
  });
}

/** Also of a list of pairs or a Map, as `fetch` takes them. */
function headerEntries(headers: object): [string, unknown][] {
  if (!(Symbol.iterator in headers)) return Object.entries(headers);
  return [...(headers as Iterable<unknown>)].map((pair) => {
    if (Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string') return [pair[0], pair[1] as unknown];
    throw new TypeError('respond: headers must be an object, or pairs such as ["x-name", "value"]');
  });
}

/**
 * A list is one line, but for cookies: their values may have commas, so each has a line of its own.
 */
function valuesOf(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [headerText(name, value)];
  const texts = value.map((item) => headerText(name, item));
  return name.toLowerCase() === 'set-cookie' ? texts : [texts.join(', ')];
}

function headerText(name: string, value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  // A date or a URL has a defined text form.
  if (isText || typeof value === 'bigint' || value instanceof URL) return toText(value);
  if (value instanceof Date) return value.toUTCString();
  throw new TypeError(
    `respond: the value of header '${name}' cannot be ${value === null ? 'null' : `a ${typeof value}`}`,
  );
}

function readBody(body: unknown, head: ResponseHead): Content | Promise<Content> {
  if (body === undefined || body === null || body === '') return '';
  if (isData(body)) {
    const read = readFetchBody(body) as ReadBody;
    nameType(head, read.type);
    const content = consumeBody(read.state);
    return content instanceof Uint8Array ? exact(content) : content;
  }
  refuseEmptyJson(body);
  const json = bodyJson(body);
  nameType(head, 'application/json');
  return json;
}

function nameType({ headers }: ResponseHead, type: string | undefined): void {
  if (type !== undefined && !headers.some(([name]) => name.toLowerCase() === 'content-type'))
    headers.push(['content-type', type]);
}

/** True for bodies that `fetch` sends unchanged. */
export function isData(body: unknown): boolean {
  return (
    typeof body === 'string' ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof Blob ||
    body instanceof FormData ||
    body instanceof URLSearchParams ||
    body instanceof ReadableStream ||
    (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
  );
}

const INSTEAD: Record<string, string> = {
  Iterator: ': spread it into a list',
  Promise: ': await it',
  Response: ': give its body',
};

function refuseEmptyJson(body: unknown): void {
  const name = withoutJson(body);
  if (name === undefined) return;
  const instead = INSTEAD[name] ?? '';
  throw new TypeError(`respond: the body cannot be a ${name}, which has no JSON${instead}`);
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
