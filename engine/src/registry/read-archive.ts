import { createGunzip } from 'node:zlib';
import { readTar, TarError } from '@headwater/sandbox-runtime';
import { isNeeded } from './component-tree.ts';
import { createGiveWay, type ExceededLimit, HeadwaterError, LIMITS } from '@headwater/shared';

/** Beside their text files have headers, and there are files that are no code. */
const MAX_UNPACKED_BYTES = 2 * LIMITS.maxImportBytes;
const MAX_ENTRIES = 4 * LIMITS.maxImportFiles;
const CHUNK_BYTES = 128 * 1024;

/**
 * The files of a gzipped tar archive in base64; files without code have no text. Throws
 * INVALID_REQUEST for an invalid archive or one that is too large.
 */
export async function readArchive(base64: string): Promise<Record<string, string>> {
  try {
    const tar = await unpack(Buffer.from(base64, 'base64'));
    const files = Object.create(null) as Record<string, string>;
    const giveWay = createGiveWay();
    for (const file of readTar(tar, MAX_ENTRIES, { keepsFirstFolder: true })) {
      await giveWay();
      if (file !== undefined) files[file.path] = isNeeded(file.path) ? textOf(file.bytes) : '';
    }
    return files;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    if (cause instanceof TarError) throw refuse(`cannot be unpacked: ${cause.message}`, { cause });
    if (/^Z_|^ERR_/.test(code)) throw refuse('is not a gzipped tar archive in base64', { cause });
    throw cause;
  }
}

/** Put together chunk by chunk: fifty megabytes at once hold the thread for 30 ms. */
async function unpack(gzipped: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createGunzip({ chunkSize: CHUNK_BYTES }).end(gzipped) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_UNPACKED_BYTES) throw tooLarge(bytes);
    chunks.push(chunk);
  }
  const giveWay = createGiveWay();
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const chunk of chunks) {
    await giveWay();
    at += chunk.copy(whole, at);
  }
  return whole;
}

/**
 * Keeps one byte past the limit, so that the caller detects overflow. Latin-1 gives one character
 * per byte, so the length is exact.
 */
function textOf(bytes: Buffer): string {
  const max = LIMITS.maxComponentCodeBytes;
  if (bytes.length > max) return bytes.toString('latin1', 0, max + 1);
  return (bytes.includes(0) ? withoutNuls(bytes) : bytes).toString('utf8');
}

/** In the bytes: a text of which half a million are taken out is put together of as many pieces. */
function withoutNuls(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) if (byte !== 0) kept[length++] = byte;
  return kept.subarray(0, length);
}

function tooLarge(bytes: number): HeadwaterError {
  // More than twice the maximum of code files. The content is not examined.
  const limit: ExceededLimit = { name: 'maxImportBytes', value: LIMITS.maxImportBytes, used: bytes };
  return refuse(`unpacks to more than ${MAX_UNPACKED_BYTES} bytes`, { limit });
}

function refuse(message: string, more: { cause?: unknown; limit?: ExceededLimit }): HeadwaterError {
  const details = { fields: [{ path: 'archive', message }], ...more };
  return new HeadwaterError('INVALID_REQUEST', `archive ${message}`, details);
}
