import type { ExceededLimit } from '@headwater/shared';
import type { SendCall } from '../sandbox-types.ts';
import { SENT_BYTES } from '../bridge/head-bounds.ts';
import type { Bridge } from './bridge.ts';
import { requireOwnChannel, requireStorable } from './check-name.ts';
import { isData, UNSENDABLE } from './http-prop.ts';
import { joinBytes } from './blob.ts';
import { readBody, type ReadBody } from './body.ts';
import { toText, whenSettled } from './intrinsics.ts';
import { withoutJson } from './json-loss.ts';
import { toJson } from './json-value.ts';
import { limitError } from './limit-error.ts';
import { isObjectValue } from './resolve-prop.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { warnUnknownMembers } from './warn-unknown-members.ts';
import { utf8LengthUpTo } from './utf8.ts';
import { type GuestStream, readToEnd } from './web-streams.ts';

export interface GuestSend {
  /** Resolves when `data` that is a stream has been read. */
  http(request: unknown): Promise<void>;
  email(email: unknown): void;
  s3(object: unknown): void;
  emit(event: unknown, channel?: unknown): void;
  sse(message: unknown): void;
}

type Fields = Record<string, unknown>;

/** Limit of a text, in characters. */
type TextLimit = Omit<ExceededLimit, 'used'>;

/**
 * `$.send`. An invalid argument throws at the author's line; a valid send leaves after the workflow
 * has ended.
 */
export function makeSend(sender: Sender): GuestSend {
  const { context } = sender;
  const ofUrl: TextLimit = { name: 'maxFetchUrlChars', value: context.limits.maxFetchUrlChars };
  const ofName: TextLimit = { name: 'maxChannelChars', value: context.limits.maxChannelChars };
  return {
    http(request) {
      const { fields, stream } = readHttp(fieldsOf(sender, 'http', request), ofUrl);
      if (stream !== undefined) return heldOpen(context, sendStream(sender, fields, stream));
      send(sender, 'http', fields);
      return Promise.resolve();
    },
    email(email) {
      send(sender, 'email', readEmail(fieldsOf(sender, 'email', email)));
    },
    s3(object) {
      send(sender, 's3', readObject(fieldsOf(sender, 's3', object)));
    },
    emit(event, channel) {
      send(sender, 'emit', readEmit(event, channel, ofName));
    },
    sse(message) {
      send(sender, 'sse', readSse(fieldsOf(sender, 'sse', message), ofName));
    },
  };
}

/** One run that sends. */
interface Sender {
  bridge: Bridge;
  runs: RunTracker;
  context: RunContext;
  warn(context: RunContext, message: string): void;
}

function fieldsOf({ context, warn }: Sender, kind: keyof typeof KNOWN_FIELDS, value: unknown): Fields {
  const { names, shape } = KNOWN_FIELDS[kind];
  if (!isObjectValue(value)) throw new TypeError(`$.send.${kind} takes an object such as ${shape}`);
  const known = { names, knowsNo: `$.send.${kind} knows no`, takes: names.join(', ') };
  warnUnknownMembers(context, value, known, (message) => warn(context, message));
  return value;
}

function send({ bridge, runs, context }: Sender, kind: SendCall['kind'], fields: Fields): void {
  if (context.over) return;
  const payload = toJson(`What is given to $.send.${kind}`, fields);
  const { maxSendsPerRun, maxEventBytes, maxRunOutputBytes } = context.limits;
  const isEvent = kind === 'emit' || kind === 'sse';
  const bytes = utf8LengthUpTo(payload, isEvent ? maxEventBytes : maxRunOutputBytes);
  if (isEvent && bytes > maxEventBytes) throw limitError({ name: 'maxEventBytes', value: maxEventBytes, used: bytes });
  context.sends += 1;
  if (context.sends > maxSendsPerRun)
    runs.exceed(context, { name: 'maxSendsPerRun', value: maxSendsPerRun, used: context.sends });
  runs.takeBytes(context, bytes);
  bridge.post({ kind: 'step-send', run: context.run, means: kind, payload });
}

async function sendStream(sender: Sender, fields: Fields, stream: ReadableStream): Promise<void> {
  const data = await readWithin(stream, sender.context.limits.maxRunOutputBytes);
  send(sender, 'http', { ...fields, ...bytesField(data) });
}

/** The step ends after this promise settles. An unhandled rejection fails the step. */
function heldOpen(context: RunContext, reading: Promise<void>): Promise<void> {
  const settled = (): void => {
    context.sendsBeingRead -= 1;
    if (context.sendsBeingRead === 0) context.whenSendsAreRead?.();
  };
  context.sendsBeingRead += 1;
  whenSettled(reading, settled, settled);
  // Handled above: the author's own promise is another one.
  return (async () => reading)();
}

/** A stream without end is no way to fill the isolate. */
async function readWithin(stream: ReadableStream, maxBytes: number): Promise<Uint8Array> {
  let used = 0;
  const counted = new TransformStream({
    transform(chunk: unknown, controller) {
      used += chunk instanceof Uint8Array ? chunk.byteLength : 0;
      if (used > maxBytes) throw limitError({ name: 'maxRunOutputBytes', value: maxBytes, used });
      controller.enqueue(chunk);
    },
  });
  return joinBytes(await readToEnd(stream.pipeThrough(counted) as unknown as GuestStream));
}

const bytesField = (bytes: Uint8Array): Fields => ({ [SENT_BYTES]: Buffer.from(bytes).toString('base64') });

/** Other fields have no effect, and the log says so. `shape`: an example for people. */
const KNOWN_FIELDS = {
  http: { names: ['method', 'url', 'data', 'headers', 'params', 'auth'], shape: '{ method, url, data }' },
  email: { names: ['subject', 'text', 'html'], shape: '{ subject, text }' },
  s3: { names: ['bucket', 'prefix', 'payload'], shape: '{ bucket, prefix, payload }' },
  sse: { names: ['channel', 'payload'], shape: '{ channel, payload }' },
};

/** `stream`: its content is to be added. */
interface HttpFields {
  fields: Fields;
  stream?: ReadableStream;
}

function readHttp({ method, url, data, headers, params, auth }: Fields, ofUrl: TextLimit): HttpFields {
  const text = requireText('http', 'url', url, ofUrl);
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new TypeError(`$.send.http: url must be one of http or https, not ${text.slice(0, 200)}`);
  if (method !== undefined && (typeof method !== 'string' || !/^[A-Za-z]{1,20}$/.test(method)))
    throw new TypeError('$.send.http: method must be a name such as POST');
  if (/^(?:get|head)$/i.test(method ?? '') && data !== undefined && data !== null && data !== '')
    throw new TypeError(`$.send.http: a ${method} request cannot have data: send it as params, or with another method`);
  for (const [name, value] of Object.entries({ headers, params, auth }))
    if (value !== undefined && value !== null && !isObjectValue(value))
      throw new TypeError(`$.send.http: ${name} must be an object, not a ${typeof value}`);
  if (isObjectValue(auth) && (typeof auth['username'] !== 'string' || typeof auth['password'] !== 'string'))
    throw new TypeError('$.send.http: auth must be { username, password }, both of them text');
  checkHeaders(headers);
  const { type, stream, ...body } = sentBody(data);
  const fields = { url: text, ...defined({ method, headers: withType(headers, type), params, auth, ...body }) };
  return stream === undefined ? { fields } : { fields, stream };
}

/** `type`: the content type that `fetch` would set. */
type SentBody = { type?: string | undefined; stream?: ReadableStream } & Fields;

/**
 * A later send is stored as JSON. Data that `fetch` sends unchanged stays text or bytes; all else
 * becomes JSON.
 */
function sentBody(data: unknown): SentBody {
  if (typeof data === 'string' || !isData(data)) return { data: sendable('http', 'data', data) };
  const { state, type } = readBody(data) as ReadBody;
  if (state.stream !== undefined) return { type, stream: state.stream as unknown as ReadableStream };
  const { source = '' } = state;
  return { type, ...(typeof source === 'string' ? { data: source } : bytesField(source)) };
}

function sendable(kind: string, name: string, value: unknown): unknown {
  if (value instanceof URLSearchParams) return value.toString();
  const is = typeof value !== 'string' && isData(value) ? nameOfData(value) : withoutJson(value);
  if (is === undefined) return value;
  throw new TypeError(`$.send.${kind}: ${name} is text or a value that has JSON, and no ${is}: send it with fetch`);
}

function nameOfData(value: unknown): string {
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'stream';
}

function checkHeaders(headers: unknown): void {
  if (!isObjectValue(headers)) return;
  for (const [name, value] of Object.entries(headers)) {
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (!isText || UNSENDABLE.test(String(value)))
      throw new TypeError(`$.send.http: the value of header '${name.slice(0, 100)}' cannot be sent`);
  }
}

function withType(headers: unknown, type: string | undefined): unknown {
  if (type === undefined) return headers;
  const own = isObjectValue(headers) ? headers : {};
  const isNamed = Object.keys(own).some((name) => name.toLowerCase() === 'content-type');
  return isNamed ? own : { ...own, 'content-type': type };
}

function readEmail({ subject, text, html }: Fields): Fields {
  requireText('email', 'subject', subject);
  for (const [name, value] of Object.entries({ text, html }))
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw new TypeError(`$.send.email: ${name} must be text, not a ${typeof value}`);
  if (typeof text !== 'string' && typeof html !== 'string')
    throw new TypeError('$.send.email needs text or html, or both');
  return { subject, ...defined({ text, html }) };
}

function readObject({ bucket, prefix, payload }: Fields): Fields {
  requireText('s3', 'bucket', bucket);
  if (prefix !== undefined && typeof prefix !== 'string')
    throw new TypeError(`$.send.s3: prefix must be text, not a ${typeof prefix}`);
  if (payload === undefined) throw new TypeError('$.send.s3 needs a payload');
  return { bucket, prefix: prefix ?? '', payload: sendable('s3', 'payload', payload) };
}

/**
 * An event and its channel, or both in the raw form `{ raw_event, name }`, which other fields make
 * an event.
 */
function readEmit(event: unknown, channel: unknown, ofName: TextLimit): Fields {
  const isRaw =
    channel === undefined &&
    isObjectValue(event) &&
    Object.hasOwn(event, 'raw_event') &&
    Object.keys(event).every((name) => name === 'raw_event' || name === 'name');
  const { raw_event: data, name } = isRaw ? event : { raw_event: event, name: channel };
  const isNamed = name !== undefined && name !== null && name !== '';
  if (isNamed) requireOwnChannel(requireText('emit', 'name', name, ofName), '$.send.emit: name');
  return { raw_event: data ?? null, ...(isNamed ? { name } : {}) };
}

function readSse({ channel, payload }: Fields, ofName: TextLimit): Fields {
  const name = requireText('sse', 'channel', channel, ofName);
  requireStorable(name, '$.send.sse: channel');
  return { channel: name, payload: payload ?? null };
}

function requireText(kind: string, name: string, value: unknown, limit?: TextLimit): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`$.send.${kind} needs ${name}, a text; it is ${value === '' ? 'empty' : toText(typeof value)}`);
  if (limit !== undefined && value.length > limit.value) throw limitError({ ...limit, used: value.length });
  return value;
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}
