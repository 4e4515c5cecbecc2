import { blobBytes, GuestBlob, joinBytes, toBytes } from './blob.ts';
import { theBridge } from './bridge-slot.ts';
import { encodeForm, GuestFormData } from './form-data.ts';
import { parseJson } from './intrinsics.ts';
import { mimeEssence, mimeParameter } from './mime-type.ts';
import { readMultipart } from './read-multipart.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';
import { asInterface, toUsv } from './web-idl.ts';
import { type GuestStream, isDisturbed, isStream, readToEnd, STREAM_CLASSES, streamOf } from './web-streams.ts';

type Source = string | Uint8Array<ArrayBuffer>;

/**
 * A body: a stream, or the content of one (`source`), whose stream is made on demand. Text stays
 * text, because the process encodes it faster than the guest.
 */
export interface BodyState {
  source?: Source;
  stream?: GuestStream;
  /** Read without a stream. */
  used: boolean;
  /** Ends the stream that was made of the source. */
  fail?: (reason: unknown) => void;
  failure?: { reason: unknown };
}

export interface ReadBody {
  state: BodyState;
  /** The content type that belongs to it. */
  type?: string;
}

/** Converts a body of `fetch`, Request or Response. Undefined without a body. */
export function readBody(body: unknown): ReadBody | undefined {
  if (body === undefined || body === null) return undefined;
  if (isStream(body)) {
    if (body.locked || isDisturbed(body)) throw new TypeError('The body is a stream that is locked or was read from');
    return { state: { stream: body, used: false } };
  }
  if (body instanceof GuestBlob) return from(blobBytes(body), body.type === '' ? undefined : body.type);
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return from(toBytes(theBridge(), body));
  if (body instanceof GuestFormData) {
    const boundary = `----form${crypto.randomUUID().replaceAll('-', '')}`;
    return from(encodeForm(body, boundary), `multipart/form-data; boundary=${boundary}`);
  }
  if (body instanceof URLSearchParams) return from(body.toString(), 'application/x-www-form-urlencoded;charset=UTF-8');
  if (isAsyncIterable(body)) return { state: { stream: streamOfChunks(body), used: false } };
  return from(toUsv(body), 'text/plain;charset=UTF-8');
}

function from(source: Source, type?: string): ReadBody {
  return type === undefined ? { state: { source, used: false } } : { state: { source, used: false }, type };
}

// As Node's fetch does: streams of packages come as async iterables of buffers and text.
function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function streamOfChunks(chunks: AsyncIterable<unknown>): GuestStream {
  const iterator = chunks[Symbol.asyncIterator]();
  return new STREAM_CLASSES.ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(bytesOfChunk(next.value));
    },
    async cancel(reason) {
      await iterator.return?.(reason);
    },
  });
}

/** As in Node, anything but text and bytes is a mistake: as text it would be `[object Object]`. */
function bytesOfChunk(chunk: unknown): Uint8Array<ArrayBuffer> {
  if (typeof chunk !== 'string' && !(chunk instanceof ArrayBuffer) && !ArrayBuffer.isView(chunk))
    throw new TypeError(`A stream that is sent has text and bytes, and no ${chunk === null ? 'null' : typeof chunk}`);
  return toBytes(theBridge(), chunk);
}

function isUsed(state: BodyState | undefined): boolean {
  return state !== undefined && (state.used || (state.stream !== undefined && isDisturbed(state.stream)));
}

/** Throws TypeError when the body was read, or is being read. */
export function requireUnused(state: BodyState | undefined): void {
  if (isUsed(state)) throw new TypeError('Body is unusable: Body has already been read');
  if (state?.stream?.locked === true) throw new TypeError('The body is a stream that is locked');
}

/** Two bodies of one; the given one goes on as the first of them. */
export function cloneBody(state: BodyState | undefined): BodyState | undefined {
  if (state === undefined) return undefined;
  if (state.stream === undefined) return { ...state };
  const [first, second] = state.stream.tee() as [GuestStream, GuestStream];
  state.stream = first;
  return { stream: second.pipeThrough(copyChunks()), used: false };
}

/** Clones chunks, so that changes of one reader stay invisible to the other. */
function copyChunks(): InstanceType<typeof STREAM_CLASSES.TransformStream> {
  return new STREAM_CLASSES.TransformStream({
    transform: (chunk, controller) => controller.enqueue(structuredClone(chunk)),
  });
}

/** Hands the body over: the given one counts as read from now on. */
export function takeBody(state: BodyState | undefined): BodyState | undefined {
  if (state === undefined) return undefined;
  requireUnused(state);
  const taken: BodyState = state.stream === undefined ? { ...state } : { used: false, stream: passOn(state.stream) };
  state.used = true;
  return taken;
}

function passOn(stream: GuestStream): GuestStream {
  return stream.pipeThrough(new STREAM_CLASSES.TransformStream());
}

/** Makes later reads of an unread body fail, because the request was aborted. */
export function failBody(state: BodyState | undefined, reason: unknown): void {
  if (state === undefined || state.used) return;
  state.failure = { reason };
  state.fail?.(reason);
}

/** The whole content. Synchronous if it is already there. */
export function consumeBody(state: BodyState | undefined): Source | Promise<Source> {
  if (state === undefined) return '';
  requireUnused(state);
  if (state.failure !== undefined) throw state.failure.reason;
  state.used = true;
  return state.stream === undefined ? (state.source ?? '') : readToEnd(state.stream).then(joinBytes);
}

/** The reading half of Request and Response. */
export abstract class GuestBody {
  protected abstract bodyState(): BodyState | undefined;
  protected abstract contentType(): string;

  get body(): GuestStream | null {
    const state = this.bodyState();
    if (state === undefined) return null;
    if (state.stream === undefined) openStream(state);
    return state.stream ?? null;
  }

  get bodyUsed(): boolean {
    return isUsed(this.bodyState());
  }

  async text(): Promise<string> {
    return toText(await consumeBody(this.bodyState()));
  }

  async json(): Promise<unknown> {
    return parseJson(toText(await consumeBody(this.bodyState())));
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return toOwnBytes(await consumeBody(this.bodyState()));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return toOwnBytes(await consumeBody(this.bodyState())).buffer;
  }

  async blob(): Promise<GuestBlob> {
    const content = await consumeBody(this.bodyState());
    return new GuestBlob([content], { type: this.contentType() });
  }

  async formData(): Promise<GuestFormData> {
    const content = await consumeBody(this.bodyState());
    const type = this.contentType();
    const essence = mimeEssence(type);
    if (essence === 'multipart/form-data') {
      const boundary = mimeParameter(type, 'boundary');
      if (boundary === undefined) throw new TypeError('The content type names no boundary');
      return readMultipart(toOwnBytes(content), boundary);
    }
    if (essence !== 'application/x-www-form-urlencoded')
      throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
    const form = new GuestFormData();
    for (const [name, value] of new URLSearchParams(toText(content))) form.append(name, value);
    return form;
  }
}
asInterface(GuestBody, 'Body');

function openStream(state: BodyState): void {
  const { stream, fail } = streamOf(() => toOwnBytes(state.source ?? ''));
  state.stream = stream;
  state.fail = fail;
  if (state.failure !== undefined) fail(state.failure.reason);
  // It was read without a stream: the one that is asked for now is as if a reader had emptied it.
  if (state.used) void stream.getReader().cancel();
}

function toText(content: Source): string {
  const text = typeof content === 'string' ? content.toWellFormed() : decodeUtf8(theBridge(), content);
  // A byte order mark is part of the encoding, not of the text.
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function toOwnBytes(content: Source): Uint8Array<ArrayBuffer> {
  return typeof content === 'string' ? encodeUtf8(theBridge(), content) : content.slice();
}
