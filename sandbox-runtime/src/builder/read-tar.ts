/** A file of a tarball. `path` has no leading folder and is known to stay inside. */
export interface TarFile {
  path: string;
  bytes: Buffer;
}

/**
 * Thrown for an archive that cannot be unpacked, or that a package would not be in by honest means.
 */
export class TarError extends Error {
  override readonly name = 'TarError';
}

const BLOCK = 512;
/**
 * As on Linux. Long names may be of any length, and finding files by them takes time with their
 * square.
 */
const MAX_PATH_CHARS = 4_096;
/** Largest header that holds a long path or other metadata of the next file. */
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_LENGTH_DIGITS = 6;
/**
 * Records of one header. Archivers write about twenty; a header has room for thirty thousand short
 * ones.
 */
const MAX_PAX_RECORDS = 100;

/**
 * Reads the regular files of a tar archive (POSIX ustar with pax and GNU long names, as npm makes
 * them). It removes the first folder of each path, unless `keepsFirstFolder` is set. It skips links
 * and devices, as npm does. It refuses a path that leads out, and more than `maxFiles` entries of
 * any kind. Yields undefined for each entry that is no file, so that callers can give way.
 */
export function* readTar(
  archive: Buffer,
  maxFiles: number,
  { keepsFirstFolder = false }: { keepsFirstFolder?: boolean } = {},
): Generator<TarFile | undefined> {
  const folders = keepsFirstFolder ? 0 : 1;
  let at = 0;
  let pax: PaxRecords = {};
  for (let entries = 0; at + BLOCK <= archive.length; entries++) {
    if (entries > maxFiles * 2) throw new TarError(`more than ${maxFiles} files`);
    const header = archive.subarray(at, at + BLOCK);
    if (header[0] === 0) return;
    const type = String.fromCharCode(header[156] ?? 0);
    const size = (isFile(type) ? pax.size : undefined) ?? readOctal(header, 124, 12);
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (bytes.length < size) throw new TarError('the archive ends in the middle of a file');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if ((type === 'L' || type === 'x') && size > MAX_HEADER_BYTES)
      throw new TarError(`a header of the archive has more than ${MAX_HEADER_BYTES} bytes`);
    if (type === 'L') pax = { path: readText(bytes, 0, bytes.length) };
    else if (type === 'x') pax = readPax(bytes);
    else if (type !== 'g') {
      const path = pax.path ?? headerPath(header);
      pax = {};
      if (isFile(type)) {
        yield { path: checkPath(path, folders), bytes };
        continue;
      }
    }
    yield undefined;
  }
}

interface PaxRecords {
  path?: string;
  size?: number;
}

function isFile(type: string): boolean {
  return type === '0' || type === '\0' || type === '7';
}

function checkPath(path: string, folders: number): string {
  if (path.length > MAX_PATH_CHARS) throw new TarError(`a path has more than ${MAX_PATH_CHARS} characters`);
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || /[\\\0]/.test(path) || parts.includes('..') || parts.length <= folders)
    throw new TarError(`the path ${JSON.stringify(path.slice(0, 100))} leads out of the package`);
  return parts.slice(folders).join('/');
}

function headerPath(header: Buffer): string {
  const name = readText(header, 0, 100);
  const isUstar = readText(header, 257, 5) === 'ustar';
  const prefix = isUstar ? readText(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

// Records `length key=value\n`, where length counts the whole record in decimal.
function readPax(bytes: Buffer): PaxRecords {
  const records: PaxRecords = {};
  for (let at = 0, count = 1; at < bytes.length; count++) {
    if (count > MAX_PAX_RECORDS) throw new TarError(`a header of the archive has more than ${MAX_PAX_RECORDS} records`);
    const digits = /^[1-9]\d*(?= )/.exec(bytes.toString('latin1', at, at + MAX_LENGTH_DIGITS))?.[0];
    if (digits === undefined) throw new TarError('a header of the archive is broken');
    const length = Number(digits);
    const record = bytes.toString('utf8', at + digits.length + 1, at + length - 1);
    if (record.startsWith('path=')) records.path = record.slice(5);
    if (/^size=\d+$/.test(record)) records.size = Number(record.slice(5));
    at += length;
  }
  return records;
}

function readText(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString('utf8', start, end < 0 ? start + length : Math.min(end, start + length));
}

function readOctal(header: Buffer, start: number, length: number): number {
  const text = header
    .toString('latin1', start, start + length)
    .replace(/[\0 ]+$/, '')
    .trim();
  if (!/^[0-7]*$/.test(text)) throw new TarError('a header of the archive is broken');
  return text === '' ? 0 : Number.parseInt(text, 8);
}
