import type { Bridge } from './bridge.ts';
import { toText } from './intrinsics.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

type BlobPart = string | ArrayBuffer | ArrayBufferView | BlobLike;

export interface BlobLike {
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
  slice(start?: number, end?: number, type?: string): BlobLike;
}

export interface BlobClasses {
  Blob: new (parts?: Iterable<BlobPart>, options?: { type?: string }) => BlobLike;
  File: new (
    parts: Iterable<BlobPart>,
    name: string,
    options?: { type?: string; lastModified?: number },
  ) => BlobLike & { name: string };
  /** The bytes of a blob, without the promise. */
  bytesOf(blob: unknown): Uint8Array<ArrayBuffer> | undefined;
}

/** Blob and File that hold their bytes in memory: no streams. */
export function makeBlobClasses(bridge: Bridge): BlobClasses {
  const contents = new WeakMap<object, Uint8Array<ArrayBuffer>>();
  const bytesOf = (blob: unknown): Uint8Array<ArrayBuffer> | undefined =>
    typeof blob === 'object' && blob !== null ? contents.get(blob) : undefined;

  class GuestBlob implements BlobLike {
    readonly type: string;

    constructor(parts: Iterable<BlobPart> = [], options: { type?: string } = {}) {
      contents.set(this, joinBytes([...parts].map((part) => bytesOf(part) ?? toBytes(bridge, part))));
      this.type = toText(options.type ?? '').toLowerCase();
    }

    get size(): number {
      return this.#bytes().length;
    }

    arrayBuffer(): Promise<ArrayBuffer> {
      return Promise.resolve(this.#bytes().slice().buffer);
    }

    bytes(): Promise<Uint8Array<ArrayBuffer>> {
      return Promise.resolve(this.#bytes().slice());
    }

    text(): Promise<string> {
      return Promise.resolve(decodeUtf8(bridge, this.#bytes()));
    }

    slice(start?: number, end?: number, type?: string): BlobLike {
      return new GuestBlob([this.#bytes().slice(start, end)], type === undefined ? {} : { type });
    }

    #bytes(): Uint8Array<ArrayBuffer> {
      return contents.get(this) as Uint8Array<ArrayBuffer>;
    }
  }

  class GuestFile extends GuestBlob {
    readonly name: string;
    readonly lastModified: number;

    constructor(parts: Iterable<BlobPart>, name: string, options: { type?: string; lastModified?: number } = {}) {
      super(parts, options);
      this.name = toText(name);
      this.lastModified = options.lastModified ?? Date.now();
    }
  }

  Object.defineProperty(GuestBlob, 'name', { value: 'Blob' });
  Object.defineProperty(GuestFile, 'name', { value: 'File' });
  return { Blob: GuestBlob, File: GuestFile, bytesOf };
}

export function toBytes(bridge: Bridge, part: unknown): Uint8Array<ArrayBuffer> {
  if (part instanceof ArrayBuffer) return new Uint8Array(part.slice(0));
  if (ArrayBuffer.isView(part))
    return new Uint8Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength).slice();
  return encodeUtf8(bridge, toText(part));
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
