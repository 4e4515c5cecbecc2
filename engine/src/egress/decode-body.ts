import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';

/** `partly`: a truncated body is decoded as far as it goes, as browsers do. */
export type DecodedExtent = 'whole' | 'partly';

export type DecodedBody =
  | { kind: 'decoded'; body: Buffer }
  /** No coding, or one that is not known here: the body and its headers stay as they came. */
  | { kind: 'unchanged' }
  | { kind: 'too-large' }
  | { kind: 'broken' };

/** More layers than anyone sends; each is a pass over the whole body. */
const MAX_LAYERS = 3;

const CUT_SHORT = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI_CUT_SHORT = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

// RFC 9659 allows no larger window in HTTP. Without this limit, a header of a few bytes requests a
// window of 128 MB, whatever the size of the body.
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/**
 * Each decoded chunk costs a turn of the event loop, so a large body gets few large chunks. 12 MB
 * take 60 ms of the thread in Node's 16 KB chunks, and 9 ms in 256 KB chunks.
 */
const CHUNK_BYTES = { least: 16 * 1024, most: 256 * 1024 };
const USUAL_RATIO = 4;

interface DecoderOptions {
  extent: DecodedExtent;
  bounds: { maxOutputLength: number; chunkSize: number };
}

type Decoder = (body: Buffer, options: DecoderOptions) => Promise<Buffer>;

const zlibOptions = ({ extent, bounds }: DecoderOptions) => ({ ...(extent === 'partly' ? CUT_SHORT : {}), ...bounds });

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: (body, options) => promisify(gunzip)(body, zlibOptions(options)) as Promise<Buffer>,
  'x-gzip': (body, options) => promisify(gunzip)(body, zlibOptions(options)) as Promise<Buffer>,
  // Some servers send a raw deflate stream, although the name means the zlib format. The first byte
  // of zlib has 8 in its low half.
  deflate: (body, options) =>
    promisify(((body[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw)(body, zlibOptions(options)) as Promise<Buffer>,
  br: (body, { extent, bounds }) =>
    promisify(brotliDecompress)(body, {
      ...(extent === 'partly' ? BROTLI_CUT_SHORT : {}),
      ...bounds,
    }) as Promise<Buffer>,
  zstd: (body, { bounds }) => promisify(zstdDecompress)(body, { ...ZSTD, ...bounds }) as Promise<Buffer>,
};

function chunkSizeOf({ length }: Buffer): number {
  return Math.min(CHUNK_BYTES.most, Math.max(CHUNK_BYTES.least, length * USUAL_RATIO));
}

/**
 * Undoes a content-encoding. `maxBytes` bounds what comes out of every layer, so that a small bomb
 * stays small.
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string,
  maxBytes: number,
  extent: DecodedExtent,
): Promise<DecodedBody> {
  const layers = contentEncoding
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== 'identity' && layer !== '');
  const decoders = layers
    .map((layer) => (Object.hasOwn(DECODERS, layer) ? DECODERS[layer] : undefined))
    .filter((decoder) => decoder !== undefined);
  if (layers.length === 0 || layers.length > MAX_LAYERS || decoders.length < layers.length)
    return { kind: 'unchanged' };
  let decoded = body;
  try {
    if (decoded.length > 0)
      for (const decode of decoders.reverse()) {
        const bounds = { maxOutputLength: maxBytes, chunkSize: chunkSizeOf(decoded) };
        decoded = await decode(decoded, { extent, bounds });
      }
  } catch (error) {
    const isTooLarge = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    return { kind: isTooLarge ? 'too-large' : 'broken' };
  }
  return { kind: 'decoded', body: decoded };
}
