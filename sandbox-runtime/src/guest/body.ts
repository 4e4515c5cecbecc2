import type { BlobClasses, BlobLike } from './blob.ts';
import { toBytes } from './blob.ts';
import type { Bridge } from './bridge.ts';
import { encodeForm, GuestFormData } from './form-data.ts';
import { toText } from './intrinsics.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

/** A body as it was given: text stays text, because the process encodes it faster than the guest. */
export interface BodyContent {
  content: string | Uint8Array<ArrayBuffer>;
  type?: string;
}

export interface BodyTools {
  bridge: Bridge;
  blobs: BlobClasses;
}

/** What `fetch`, Request and Response take as a body, with the content type that belongs to it. */
export function readBody(tools: BodyTools, body: unknown): BodyContent | undefined {
  const { bridge, blobs } = tools;
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return { content: body, type: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) {
    return { content: body.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (body instanceof GuestFormData) {
    const boundary = `----form${crypto.randomUUID().replaceAll('-', '')}`;
    return { content: encodeForm(bridge, blobs, body, boundary), type: `multipart/form-data; boundary=${boundary}` };
  }
  const blob = blobs.bytesOf(body);
  if (blob !== undefined) {
    const { type } = body as BlobLike;
    return type === '' ? { content: blob } : { content: blob, type };
  }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { content: toBytes(bridge, body) };
  return { content: toText(body), type: 'text/plain;charset=UTF-8' };
}

/** The reading half of Request and Response. The whole body is in memory; it can be read once. */
export class GuestBody {
  readonly #tools: BodyTools;
  readonly #content: string | Uint8Array<ArrayBuffer> | undefined;
  #used = false;

  constructor(tools: BodyTools, content: string | Uint8Array<ArrayBuffer> | undefined) {
    this.#tools = tools;
    this.#content = content;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async text(): Promise<string> {
    const content = this.#take();
    if (typeof content === 'string') return content;
    const text = decodeUtf8(this.#tools.bridge, content);
    // A byte order mark is part of the encoding, not of the text.
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const content = this.#take();
    return typeof content === 'string' ? encodeUtf8(this.#tools.bridge, content) : content.slice();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async blob(): Promise<BlobLike> {
    return new this.#tools.blobs.Blob([await this.bytes()], { type: this.contentType() });
  }

  async formData(): Promise<GuestFormData> {
    if (!this.contentType().startsWith('application/x-www-form-urlencoded')) {
      throw new TypeError('formData() reads application/x-www-form-urlencoded bodies only');
    }
    const form = new GuestFormData();
    for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
    return form;
  }

  /** For a clone and for sending: does not count as reading. */
  peek(): string | Uint8Array<ArrayBuffer> | undefined {
    if (this.#used) throw new TypeError('The body has already been read');
    return this.#content;
  }

  protected contentType(): string {
    return '';
  }

  #take(): string | Uint8Array<ArrayBuffer> {
    if (this.#used) throw new TypeError('The body has already been read');
    if (this.#content !== undefined) this.#used = true;
    return this.#content ?? '';
  }
}
