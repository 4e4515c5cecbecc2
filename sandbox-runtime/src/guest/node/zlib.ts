import { NODE_FACTS } from './node-facts.ts';
import type { Bridge } from '../bridge.ts';
import { throwLimitOf } from '../throw-refused.ts';
import { codedError, invalidArgument, nativeError, outOfRange, requireFunction } from './errors.ts';
import { readBytes } from './fs/arguments.ts';
import { Transform } from './stream.ts';
import { attachHandle } from './zlib-handle.ts';

const { zlibConstants: ZLIB_CONSTANTS } = NODE_FACTS;

type ZlibOptions = Record<string, unknown>;
type Callback = (error: Error | null, result?: Buffer) => void;

/** Function name → class name, and what creates a stream of it is `create` + class. */
const METHODS: Readonly<Record<string, string>> = {
  deflate: 'Deflate',
  inflate: 'Inflate',
  gzip: 'Gzip',
  gunzip: 'Gunzip',
  deflateRaw: 'DeflateRaw',
  inflateRaw: 'InflateRaw',
  unzip: 'Unzip',
  brotliCompress: 'BrotliCompress',
  brotliDecompress: 'BrotliDecompress',
  zstdCompress: 'ZstdCompress',
  zstdDecompress: 'ZstdDecompress',
};

/**
 * `zlib`. The process does the work, each body in one call; a stream collects its input and works
 * when it ends.
 */
export function makeZlib(bridge: Bridge): Record<string, unknown> {
  const module: Record<string, unknown> = { constants: ZLIB_CONSTANTS, crc32, codes: resultCodes() };
  for (const name of Object.keys(ZLIB_CONSTANTS)) module[name] = ZLIB_CONSTANTS[name];
  for (const [method, className] of Object.entries(METHODS)) {
    const work = (data: unknown, options: ZlibOptions = {}): Buffer => run(bridge, method, data, options);
    module[`${method}Sync`] = work;
    module[method] = (data: unknown, options: ZlibOptions | Callback, callback?: Callback): void =>
      typeof options === 'function'
        ? later(() => work(data), options)
        : later(() => work(data, options), callback as Callback);
    const Stream = makeStreamClass(work, className);
    module[className] = Stream;
    module[`create${className}`] = (options?: ZlibOptions) => new Stream(options);
  }
  return module;
}

function run(bridge: Bridge, method: string, data: unknown, options: ZlibOptions): Buffer {
  const expected = 'of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer';
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : readBytes(data, undefined, 'buffer', expected);
  checkOptions(options);
  const { dictionary, ...rest } = options;
  const given =
    dictionary === undefined ? rest : { ...rest, dictionary: Buffer.from(readBytes(dictionary)).toString('base64') };
  const head = JSON.stringify({ method, options: given });
  const answer = bridge.ask({ kind: 'zlib', head, data: new Uint8Array(bytes) });
  if (typeof answer !== 'string') return Buffer.from(answer.buffer);
  throwLimitOf(answer, (text) => codedError('ERR_BUFFER_TOO_LARGE', text, RangeError));
  const [code, message] = answer.includes('|') ? (answer.split('|', 2) as [string, string]) : ['Z_DATA_ERROR', answer];
  // Mistakes of the caller have no number; the library's own failures do.
  if (code === 'ERR_BROTLI_INVALID_PARAM') throw codedError(code, message, RangeError);
  if (code.startsWith('ERR_') && !code.startsWith('ERR__')) throw codedError(code, message);
  throw Object.assign(nativeError(code, message), { errno: ZLIB_CONSTANTS[code] ?? -3 });
}

const BYTES = 'an instance of Buffer, TypedArray, DataView, or ArrayBuffer';

function checkOptions(options: ZlibOptions): void {
  const { chunkSize, dictionary, level, params } = options;
  if (chunkSize !== undefined) {
    if (typeof chunkSize !== 'number') throw invalidArgument('options.chunkSize', 'of type number', chunkSize);
    if (!(chunkSize >= MIN_CHUNK)) throw outOfRange('options.chunkSize', `>= ${MIN_CHUNK}`, chunkSize);
  }
  if (level !== undefined) {
    if (typeof level !== 'number') throw invalidArgument('options.level', 'of type number', level);
    if (!(level >= -1 && level <= 9)) throw outOfRange('options.level', '>= -1 and <= 9', level);
  }
  if (dictionary !== undefined && !ArrayBuffer.isView(dictionary) && !(dictionary instanceof ArrayBuffer))
    throw invalidArgument('options.dictionary', BYTES, dictionary);
  for (const value of Object.values(typeof params === 'object' && params !== null ? params : {}))
    if (typeof value !== 'number' && typeof value !== 'boolean')
      throw invalidArgument('options.params[key]', 'of type number', value);
}

/** Smallest chunk of Node's zlib, in bytes. */
const MIN_CHUNK = 64;

function later(work: () => Buffer, callback: Callback): void {
  requireFunction('callback', callback);
  let [error, result]: [Error | null, Buffer | undefined] = [null, undefined];
  try {
    result = work();
  } catch (thrown) {
    if (thrown instanceof TypeError) throw thrown;
    error = thrown as Error;
  }
  if (error === null) setImmediate(callback, null, result);
  else setImmediate(callback, error);
}

type StreamClass = new (options?: ZlibOptions) => InstanceType<typeof Transform>;

function makeStreamClass(work: (data: unknown, options?: ZlibOptions) => Buffer, name: string): StreamClass {
  class ZlibStream extends Transform {
    readonly #options: ZlibOptions;
    readonly #chunks: Buffer[] = [];
    bytesWritten = 0;

    constructor(options: ZlibOptions = {}) {
      super({ highWaterMark: Number(options['highWaterMark'] ?? 64 * 1024) });
      checkOptions(options);
      this.#options = options;
    }

    override _transform(chunk: Buffer, _encoding: string, callback: () => void): void {
      this.#chunks.push(chunk);
      this.bytesWritten += chunk.length;
      callback();
    }

    override _flush(callback: (error?: Error | null, data?: Buffer) => void): void {
      try {
        // Decoders answer nothing to nothing; an empty compressed body is a valid one.
        const isEmptyInput = this.#chunks.length === 0 && /^(In|Gun|Unz|.*Decompress)/.test(name);
        callback(null, isEmptyInput ? undefined : work(Buffer.concat(this.#chunks), this.#options));
      } catch (error) {
        callback(error as Error);
      }
    }

    /** Output appears only at the end, so there is nothing to flush. */
    flush(...args: unknown[]): void {
      const callback = args.at(-1);
      if (typeof callback === 'function') process.nextTick(callback as () => void);
    }

    close(callback?: () => void): void {
      if (callback !== undefined) this.once('close', callback);
      this.destroy();
    }

    params(_level: number, _strategy: number, callback: () => void): void {
      process.nextTick(callback);
    }

    reset(): void {
      this.#chunks.length = 0;
    }
  }
  Object.defineProperty(ZlibStream, 'name', { value: name });
  return callable(ZlibStream, work);
}

/** Classes of zlib are functions that work without `new`, and can be inherited from by `call`. */
function callable(Class: StreamClass, work: (data: unknown, options?: ZlibOptions) => Buffer): StreamClass {
  return new Proxy(Class, {
    apply(target, receiver: unknown, [options = {}]: [ZlibOptions?]) {
      if (!(receiver instanceof target)) return new target(options);
      attachHandle(receiver, (data) => work(data, options), options);
      return receiver;
    },
  });
}

function resultCodes(): Record<string, string | number> {
  const names = [
    'Z_OK',
    'Z_STREAM_END',
    'Z_NEED_DICT',
    'Z_ERRNO',
    'Z_STREAM_ERROR',
    'Z_DATA_ERROR',
    'Z_MEM_ERROR',
    'Z_BUF_ERROR',
    'Z_VERSION_ERROR',
  ];
  const codes: Record<string, string | number> = {};
  for (const name of names) {
    const code = ZLIB_CONSTANTS[name] as number;
    codes[name] = code;
    codes[code] = name;
  }
  return codes;
}

function crc32(data: unknown, start: unknown = 0): number {
  if (typeof start !== 'number') throw invalidArgument('value', 'of type number', start);
  let crc = ~start;
  for (const byte of readBytes(data)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}
