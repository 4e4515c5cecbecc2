import * as zlib from 'node:zlib';
import { AskError } from './ask-error.ts';

/** More than an isolate could hold of it; a bomb stops here. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** A larger window needs memory that the isolate's limit does not see. */
const MAX_BROTLI_WINDOW_BITS = 22;

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

/** Answers `ASK.zlib`: one whole body through one of Node's zlib functions. Throws AskError or what zlib throws. */
export function answerZlib(headJson: unknown, data: Uint8Array): Uint8Array {
  const { method, options } = readHead(headJson);
  const work = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (work === undefined) throw new AskError('This is not supported');
  return new Uint8Array(work(data, readOptions(options)));
}

function readHead(json: unknown): { method: string; options: Record<string, unknown> } {
  if (typeof json !== 'string') throw new AskError('This is not supported');
  const { method, options } = JSON.parse(json) as { method?: unknown; options?: unknown };
  if (typeof method !== 'string' || typeof options !== 'object' || options === null)
    throw new AskError('This is not supported');
  return { method, options: options as Record<string, unknown> };
}

function readOptions(options: Record<string, unknown>): object {
  const read: Record<string, unknown> = {};
  for (const name of NUMBERS) if (typeof options[name] === 'number') read[name] = options[name];
  read['maxOutputLength'] = Math.min(Number(read['maxOutputLength'] ?? MAX_OUTPUT_BYTES), MAX_OUTPUT_BYTES);
  if (typeof options['params'] === 'object' && options['params'] !== null)
    read['params'] = readParams(options['params']);
  const dictionary = options['dictionary'];
  if (typeof dictionary === 'string') read['dictionary'] = Buffer.from(dictionary, 'base64');
  return read;
}

function readParams(given: object): Record<number, number> {
  const params: Record<number, number> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!/^\d{1,4}$/.test(name) || typeof value !== 'number')
      throw new AskError('A parameter of the compression is no number');
    params[Number(name)] = value;
  }
  const windowBits = params[zlib.constants.BROTLI_PARAM_LGWIN];
  if (windowBits !== undefined)
    params[zlib.constants.BROTLI_PARAM_LGWIN] = Math.min(windowBits, MAX_BROTLI_WINDOW_BITS);
  return params;
}
