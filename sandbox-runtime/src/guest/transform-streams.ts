import { joinBytes, toBytes } from './blob.ts';
import { theBridge } from './bridge-slot.ts';
import { toText } from './intrinsics.ts';
import { GuestTextDecoder, GuestTextEncoder } from './text-encoding.ts';
import { throwLimitOf } from './throw-refused.ts';
import { asInterface, requireArguments } from './web-idl.ts';
import { type GuestStream, STREAM_CLASSES } from './web-streams.ts';

type Transform = InstanceType<typeof STREAM_CLASSES.TransformStream>;

interface Steps {
  transform(chunk: unknown): unknown;
  flush(): unknown;
}

/** A transform stream whose steps return the next chunk, or undefined for none. */
function makeTransform(steps: Steps): Transform {
  return new STREAM_CLASSES.TransformStream({
    transform(chunk, controller) {
      const result = steps.transform(chunk);
      if (result !== undefined) controller.enqueue(result);
    },
    flush(controller) {
      const result = steps.flush();
      if (result !== undefined) controller.enqueue(result);
    },
  });
}

class StreamPair {
  readonly #transform: Transform;

  constructor(transform: Transform) {
    this.#transform = transform;
  }

  get readable(): GuestStream {
    return this.#transform.readable;
  }

  get writable(): Transform['writable'] {
    return this.#transform.writable;
  }
}

const HIGH_AT_END = /[\ud800-\udbff]$/;

class GuestTextEncoderStream extends StreamPair {
  constructor() {
    const encoder = new GuestTextEncoder();
    let held = '';
    const encode = (text: string): Uint8Array | undefined => (text === '' ? undefined : encoder.encode(text));
    super(
      makeTransform({
        transform(chunk) {
          if (typeof chunk === 'symbol') throw new TypeError('A symbol cannot be encoded');
          const text = held + toText(chunk);
          // Half of a surrogate pair waits for its other half.
          held = HIGH_AT_END.test(text) ? text.slice(-1) : '';
          return encode(held === '' ? text : text.slice(0, -1));
        },
        flush: () => encode(held),
      }),
    );
  }

  get encoding(): string {
    return 'utf-8';
  }
}
asInterface(GuestTextEncoderStream, 'TextEncoderStream');

class GuestTextDecoderStream extends StreamPair {
  readonly #decoder: GuestTextDecoder;

  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) {
    const decoder = new GuestTextDecoder(label, options);
    const decode = (input: unknown, stream: boolean): string | undefined => {
      const text = decoder.decode(input, { stream });
      return text === '' ? undefined : text;
    };
    super(
      makeTransform({ transform: (chunk) => decode(requireBytes(chunk), true), flush: () => decode(undefined, false) }),
    );
    this.#decoder = decoder;
  }

  get encoding(): string {
    return this.#decoder.encoding;
  }

  get fatal(): boolean {
    return this.#decoder.fatal;
  }

  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }
}
asInterface(GuestTextDecoderStream, 'TextDecoderStream');

const FORMATS = ['gzip', 'deflate', 'deflate-raw'];

/**
 * Collects the input and emits it compressed at the end, because the process works on whole bodies.
 */
class GuestCompressionStream extends StreamPair {
  constructor(format: string) {
    requireArguments(1, arguments.length, 'CompressionStream');
    const order = `c${readFormat(format)}`;
    const chunks: Uint8Array[] = [];
    const collect = (chunk: unknown): void => void chunks.push(toBytes(theBridge(), requireBytes(chunk)));
    super(makeTransform({ transform: collect, flush: () => askToCompress(order, joinBytes(chunks)) }));
  }
}
asInterface(GuestCompressionStream, 'CompressionStream');

/**
 * Up to this size what has come so far is decompressed at each chunk, from the beginning; above, at
 * the end.
 */
const MAX_EAGER_BYTES = 128 * 1024;

class GuestDecompressionStream extends StreamPair {
  constructor(format: string) {
    requireArguments(1, arguments.length, 'DecompressionStream');
    const name = readFormat(format);
    let collected: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    let later: Uint8Array[] = [];
    let given = 0;
    const decompress = (order: string): Uint8Array | undefined => {
      collected = joinBytes([collected, ...later]);
      later = [];
      const fresh = askToCompress(order + name, collected).subarray(given);
      given += fresh.length;
      return fresh.length === 0 ? undefined : fresh;
    };
    super(
      makeTransform({
        transform(chunk) {
          later.push(toBytes(theBridge(), requireBytes(chunk)));
          const size = later.reduce((sum, bytes) => sum + bytes.length, collected.length);
          return size > 0 && size <= MAX_EAGER_BYTES ? decompress('p') : undefined;
        },
        flush: () => decompress('d'),
      }),
    );
  }
}
asInterface(GuestDecompressionStream, 'DecompressionStream');

function readFormat(format: unknown): string {
  const text = toText(format);
  if (!FORMATS.includes(text)) throw new TypeError(`The compression format '${text.slice(0, 50)}' is not supported`);
  return text;
}

function askToCompress(order: string, bytes: Uint8Array): Uint8Array {
  const answer = theBridge().ask({ kind: 'compress', order, data: bytes });
  if (typeof answer !== 'string') return answer;
  throwLimitOf(answer, (text) => new TypeError(text));
  throw new TypeError(`The compressed data is not valid: ${answer}`);
}

function requireBytes(chunk: unknown): unknown {
  if (chunk instanceof ArrayBuffer || ArrayBuffer.isView(chunk)) return chunk;
  throw new TypeError('A chunk must be an ArrayBuffer or a view of one');
}

export const TRANSFORM_CLASSES = {
  CompressionStream: GuestCompressionStream,
  DecompressionStream: GuestDecompressionStream,
  TextDecoderStream: GuestTextDecoderStream,
  TextEncoderStream: GuestTextEncoderStream,
};
