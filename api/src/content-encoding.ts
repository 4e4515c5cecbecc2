import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

type ContentEncoding = 'br' | 'gzip';

const OFFERED: readonly ContentEncoding[] = ['br', 'gzip'];

/**
 * The first of those offered that an `accept-encoding` takes; undefined: none but the plain one.
 */
export function acceptedEncoding<Offered extends ContentEncoding = ContentEncoding>(
  header: string | undefined,
  offered: readonly Offered[] = OFFERED as readonly Offered[],
): Offered | undefined {
  if (header === undefined) return undefined;
  const taken = new Map(header.toLowerCase().split(',', MAX_CODINGS).map(codingOf));
  return offered.find((name) => (taken.get(name) ?? taken.get('*') ?? 0) > 0);
}

/** No client knows more. */
const MAX_CODINGS = 20;

function codingOf(part: string): [name: string, quality: number] {
  const [name = '', ...parameters] = part.split(';').map((one) => one.trim());
  const quality = parameters.find((one) => one.startsWith('q='));
  return [name, quality === undefined ? 1 : Number(quality.slice(2))];
}

const zip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);
/** Higher ones take ten times as long for a tenth less. */
const BROTLI_QUALITY = 5;

/** Compresses beside the thread. */
export async function encodeContent(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: ContentEncoding,
): Promise<Uint8Array<ArrayBuffer>> {
  if (encoding === 'gzip') return zip(bytes);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return compressBrotli(bytes, { params });
}

/** An answer that stays the same, compressed once for each encoding. */
export interface EncodedAnswer {
  find(encoding: ContentEncoding | undefined): Promise<Uint8Array<ArrayBuffer>>;
}

export function encodeOnce(plain: Uint8Array<ArrayBuffer>): EncodedAnswer {
  const made = new Map<ContentEncoding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    async find(encoding) {
      if (encoding === undefined) return plain;
      const found = made.get(encoding) ?? encodeContent(plain, encoding);
      made.set(encoding, found);
      return found;
    },
  };
}
