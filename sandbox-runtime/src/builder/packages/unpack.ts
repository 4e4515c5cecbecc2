import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readTar, TarError } from '../read-tar.ts';
import { PackageError } from './package-error.ts';

const inflate = promisify(gunzip);

/** Bytes and files that one build may unpack, for all its packages. */
export interface UnpackBudget {
  bytesLeft: number;
  filesLeft: number;
}

/**
 * Unpacks a tarball in memory: no path in it becomes a path on disk, no link leads anywhere,
 * nothing is run. Answers the files by their paths in the package. Throws PackageError for archives
 * that are broken, too large, or not made for unpacking.
 */
export async function unpack(tarball: Buffer, budget: UnpackBudget): Promise<Map<string, Buffer>> {
  try {
    const archive = await inflate(tarball, { maxOutputLength: Math.max(1, budget.bytesLeft) });
    budget.bytesLeft -= archive.length;
    if (budget.bytesLeft < 0) throw new TarError('the packages are too large unpacked');
    const files = new Map<string, Buffer>();
    for (const file of readTar(archive, budget.filesLeft)) {
      if (file === undefined) continue;
      budget.filesLeft -= 1;
      if (budget.filesLeft < 0) throw new TarError('the packages have too many files');
      files.set(file.path, file.bytes);
    }
    return files;
  } catch (cause) {
    throw new PackageError(describe(cause), { cause });
  }
}

function describe(cause: unknown): string {
  if (cause instanceof TarError) return `its archive cannot be used: ${cause.message}`;
  const code = (cause as { code?: unknown }).code;
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'it is too large unpacked';
  return 'its archive is broken';
}
