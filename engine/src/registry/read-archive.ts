import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readTar, TarError } from '@headwater/sandbox-runtime';
import { HeadwaterError, LIMITS } from '@headwater/shared';

const unzip = promisify(gunzip);
/** Beside their text files have headers, and there are files that are no code. */
const MAX_UNPACKED_BYTES = 2 * LIMITS.maxImportBytes;
const MAX_ENTRIES = 4 * LIMITS.maxImportFiles;

/** The files of a gzipped tar archive in base64. Throws INVALID_REQUEST for what is none, or has too much in it. */
export async function readArchive(base64: string): Promise<Record<string, string>> {
  try {
    const tar = await unzip(Buffer.from(base64, 'base64'), { maxOutputLength: MAX_UNPACKED_BYTES });
    const files = Object.create(null) as Record<string, string>;
    for (const { path, bytes } of readTar(tar, MAX_ENTRIES, { keepsFirstFolder: true }))
      files[path] = bytes.toString('utf8').replaceAll('\0', '');
    return files;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    if (code === 'ERR_BUFFER_TOO_LARGE') throw refuse(`unpacks to more than ${MAX_UNPACKED_BYTES} bytes`, cause);
    if (cause instanceof TarError) throw refuse(`cannot be unpacked: ${cause.message}`, cause);
    if (/^Z_|^ERR_/.test(code)) throw refuse('is not a gzipped tar archive in base64', cause);
    throw cause;
  }
}

function refuse(message: string, cause: unknown): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `archive ${message}`, { fields: [{ path: 'archive', message }], cause });
}
