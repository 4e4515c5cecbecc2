import * as zlib from 'node:zlib';
import { LIMITS } from '@headwater/shared';
import { AskError, requireWithin } from './ask-error.ts';
import { readHead } from './read-head.ts';

/** A larger window needs memory that the isolate's limit does not see. */
const MAX_BROTLI_WINDOW_BITS = 22;
/**
 * This thread serves every isolate of the process, and the hardest settings take over a second per
 * megabyte. The worst input is two letters in random order. Longer input is compressed with the
 * hardest setting that takes about a second for it.
 */
const MAX_HARD_BYTES = 512 * 1024;
const LARGE_BYTES = 4 * 1024 * 1024;
const HARDEST = { deflate: 6, brotli: 9, zstd: 12 };
const HARDEST_OF_LARGE = { deflate: 4, brotli: 5, zstd: 9 };

/** The hardest setting for an input of this size; undefined: any. */
function hardest(kind: keyof typeof HARDEST, bytes: number): number | undefined {
  if (bytes > LARGE_BYTES) return HARDEST_OF_LARGE[kind];
  return bytes > MAX_HARD_BYTES ? HARDEST[kind] : undefined;
}

/** The rest are tables, windows and threads of any size. */
const ZSTD_PARAMS: ReadonlySet<number> = new Set([
  zlib.constants.ZSTD_c_compressionLevel,
  zlib.constants.ZSTD_c_contentSizeFlag,
  zlib.constants.ZSTD_c_checksumFlag,
  zlib.constants.ZSTD_c_dictIDFlag,
]);

const DEFLATES: ReadonlySet<string> = new Set(['deflate', 'gzip', 'deflateRaw']);

type Work = (data: Uint8Array, options: object) => Buffer;

const METHODS: Readonly<Record<string, Work>> = {
  deflate: zlib.deflateSync,
  inflate: zlib.inflateSync,
  gzip: zlib.gzipSync,
  gunzip: zlib.gunzipSync,
  deflateRaw: zlib.deflateRawSync,
  inflateRaw: zlib.inflateRawSync,
  unzip: zlib.unzipSync,
  brotliCompress: zlib.brotliCompressSync,
  brotliDecompress: zlib.brotliDecompressSync,
  zstdCompress: zlib.zstdCompressSync,
  zstdDecompress: zlib.zstdDecompressSync,
};
const NUMBERS = ['level', 'memLevel', 'strategy', 'windowBits', 'flush', 'finishFlush', 'maxOutputLength'] as const;

/**
 * Answers `ASK.zlib`: one whole body through one of Node's zlib functions. Throws AskError or what
 * zlib throws.
 */
export function answerZlib(headJson: unknown, data: Uint8Array): Uint8Array {
  const { method, options } = readOrder(headJson);
  const work = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (work === undefined) throw new AskError('This is not supported');
  const given = {
    ...readOptions(options),
    ...easedLevel(method, options, data.byteLength),
    ...easedParams(method, options, data.byteLength),
  };
  if (given.maxOutputLength < LIMITS.maxInflatedBytes) return new Uint8Array(work(data, given));
  return new Uint8Array(inflateWithin(() => work(data, given)));
}

/** Bounded by maxInflatedBytes and nothing less: a bomb stops there, with the limit. */
export function inflateWithin(work: () => Uint8Array): Uint8Array {
  try {
    return work();
  } catch (error) {
    // The full size is unknown, so the limit reports one byte more.
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      requireWithin('maxInflatedBytes', LIMITS.maxInflatedBytes + 1);
    throw error;
  }
}

function readOrder(json: unknown): { method: string; options: Record<string, unknown> } {
  const { method, options } = readHead(json) as { method?: unknown; options?: unknown };
  if (typeof method !== 'string' || typeof options !== 'object' || options === null)
    throw new AskError('This is not supported');
  return { method, options: options as Record<string, unknown> };
}

function readOptions(options: Record<string, unknown>): { maxOutputLength: number } {
  const read: Record<string, unknown> = {};
  for (const name of NUMBERS) if (typeof options[name] === 'number') read[name] = options[name];
  const { maxInflatedBytes: most } = LIMITS;
  read['maxOutputLength'] = Math.min(Number(read['maxOutputLength'] ?? most), most);
  const dictionary = options['dictionary'];
  if (typeof dictionary === 'string') read['dictionary'] = Buffer.from(dictionary, 'base64');
  return read as { maxOutputLength: number };
}

/** `level` of the kinds of deflate; -1, the default, is 6. */
export function easedLevel(method: string, { level }: Record<string, unknown>, bytes: number): { level?: number } {
  const most = hardest('deflate', bytes);
  if (most === undefined || !DEFLATES.has(method)) return {};
  return typeof level === 'number' && level >= 0 && level <= most ? {} : { level: most };
}

/**
 * `params` of brotli and zstd. Bounded, but what comes out is still of the format that was asked
 * for.
 */
function easedParams(method: string, options: Record<string, unknown>, bytes: number): { params?: object } {
  const given = options['params'];
  const params = readParams(typeof given === 'object' && given !== null ? given : {});
  const { BROTLI_PARAM_QUALITY, BROTLI_DEFAULT_QUALITY, ZSTD_c_compressionLevel, ZSTD_CLEVEL_DEFAULT } = zlib.constants;
  const quality = hardest('brotli', bytes);
  if (method === 'brotliCompress' && quality !== undefined)
    params[BROTLI_PARAM_QUALITY] = Math.min(params[BROTLI_PARAM_QUALITY] ?? BROTLI_DEFAULT_QUALITY, quality);
  if (method === 'zstdCompress') {
    for (const name of Object.keys(params)) if (!ZSTD_PARAMS.has(Number(name))) delete params[Number(name)];
    const most = hardest('zstd', bytes);
    if (most !== undefined)
      params[ZSTD_c_compressionLevel] = Math.min(params[ZSTD_c_compressionLevel] ?? ZSTD_CLEVEL_DEFAULT, most);
  }
  return Object.keys(params).length === 0 ? {} : { params };
}

function readParams(given: object): Record<number, number> {
  const params: Record<number, number> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!/^\d{1,4}$/.test(name) || typeof value !== 'number')
      throw new AskError('A parameter of the compression is not a number');
    params[Number(name)] = value;
  }
  const windowBits = params[zlib.constants.BROTLI_PARAM_LGWIN];
  if (windowBits !== undefined)
    params[zlib.constants.BROTLI_PARAM_LGWIN] = Math.min(windowBits, MAX_BROTLI_WINDOW_BITS);
  return params;
}
