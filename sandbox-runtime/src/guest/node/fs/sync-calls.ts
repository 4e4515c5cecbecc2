import { posix } from '../path.ts';
import { requireDescriptor, requireInteger } from '../checks.ts';
import { notAvailable } from '../errors.ts';
import { type OpenMode, type Options, readBytes, readFlags, readFileOptions, readFilePath } from './arguments.ts';
import { fsError, isDirectory } from './fs-error.ts';
import { Dirent, Stats } from './stats.ts';
import type { FileNode, OpenFile, Volume } from './volume.ts';

type Position = number | bigint | null | undefined;

const RANDOM_CHARS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Every fs function once, as it is without `Sync` in its name; callbacks and promises are made of
 * these.
 */
export type SyncCalls = Record<string, (...args: never[]) => unknown>;

export function makeSyncCalls(volume: () => Volume): SyncCalls {
  return {
    ...contentCalls(volume),
    ...descriptorCalls(volume),
    ...directoryCalls(volume),
    ...removalCalls(volume),
    ...nodeCalls(volume),
  };
}

function openPath(volume: Volume, path: string, mode: OpenMode, fileMode?: number): OpenFile {
  let node = volume.lookup(path, 'open');
  if (node !== undefined && mode.creates && mode.exclusive) throw fsError('EEXIST', 'open', path);
  if (node?.kind === 'directory' && mode.writable) throw fsError('EISDIR', 'open', path);
  if (node === undefined) {
    if (!mode.creates) throw fsError('ENOENT', 'open', path);
    node = volume.createFile(path, 'open', fileMode);
  } else if (mode.truncates && node.kind === 'file') volume.resize(node, 0);
  const { readable, writable, appends } = mode;
  return { node, path, position: 0, readable, writable, appends };
}

function fileOf(entry: OpenFile, syscall: string): FileNode {
  if (entry.node.kind === 'directory') throw fsError('EISDIR', syscall);
  return entry.node;
}

function readAt(entry: OpenFile, target: Uint8Array, position: Position): number {
  if (!entry.readable) throw fsError('EBADF', 'read');
  const file = fileOf(entry, 'read');
  const at = typeof position === 'number' || typeof position === 'bigint' ? Number(position) : -1;
  const from = at >= 0 ? at : entry.position;
  const part = file.data.subarray(Math.min(from, file.size), Math.min(from + target.length, file.size));
  target.set(part);
  if (at < 0) entry.position += part.length;
  return part.length;
}

function writeAt(volume: Volume, entry: OpenFile, bytes: Uint8Array, position: Position): number {
  if (!entry.writable) throw fsError('EBADF', 'write');
  const file = fileOf(entry, 'write');
  const given = typeof position === 'number' || typeof position === 'bigint' ? Number(position) : undefined;
  const at = entry.appends ? file.size : (given ?? entry.position);
  const written = volume.write(file, bytes, at);
  if (given === undefined) entry.position = at + written;
  return written;
}

function contentCalls(volume: () => Volume): SyncCalls {
  const entryOf = (target: unknown, flags: unknown, mode?: unknown): OpenFile =>
    typeof target === 'number'
      ? volume().opened(target, 'open')
      : openPath(volume(), readFilePath(target), readFlags(flags), mode as number | undefined);
  const put = (target: unknown, data: unknown, options: Options, flags: string): void => {
    const bytes = readBytes(data, options['encoding']);
    writeAt(volume(), entryOf(target, options['flag'] ?? flags, options['mode']), bytes, undefined);
  };
  return {
    readFile(target: unknown, given?: unknown) {
      const options = readFileOptions(given);
      const entry = entryOf(target, options['flag'] ?? 'r');
      const file = fileOf(entry, 'read');
      const bytes = Buffer.from(file.data.slice(entry.position, file.size).buffer);
      const { encoding } = options;
      return typeof encoding === 'string' && encoding !== 'buffer' ? bytes.toString(encoding as BufferEncoding) : bytes;
    },
    writeFile: (target: unknown, data: unknown, options?: unknown) => put(target, data, readFileOptions(options), 'w'),
    appendFile: (target: unknown, data: unknown, options?: unknown) => put(target, data, readFileOptions(options), 'a'),
    copyFile(from: unknown, to: unknown, mode = 0) {
      const source = volume().file(readFilePath(from, 'src'), 'copyfile', readFilePath(to, 'dest'));
      const bytes = source.data.slice(0, source.size);
      const flags = (mode & 1) === 1 ? 'wx' : 'w';
      writeAt(volume(), openPath(volume(), readFilePath(to), readFlags(flags)), bytes, undefined);
    },
    truncate: (path: unknown, length = 0) =>
      volume().resize(volume().file(readFilePath(path), 'open'), readLength(length)),
  };
}

// Node takes a negative length for none.
function readLength(length: unknown): number {
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
  return Math.max(0, requireInteger('len', length, min, max));
}

function descriptorCalls(volume: () => Volume): SyncCalls {
  const at = (fd: number, syscall: string): OpenFile => volume().opened(requireDescriptor(fd), syscall);
  return {
    open: (path: unknown, flags?: unknown, mode?: number) =>
      volume().open(openPath(volume(), readFilePath(path), readFlags(flags), mode)),
    close: (fd: number) => volume().close(requireDescriptor(fd)),
    read(fd: number, buffer: Uint8Array, second?: number | Options | null, length?: number, position?: Position) {
      const options: Options =
        typeof second === 'object' && second !== null ? second : { offset: second, length, position };
      const offset = (options['offset'] as number | undefined) ?? 0;
      const room = (options['length'] as number | undefined) ?? buffer.byteLength - offset;
      const target = new Uint8Array(buffer.buffer, buffer.byteOffset + offset, room);
      return readAt(at(fd, 'read'), target, options['position'] as Position);
    },
    write(fd: number, data: unknown, second?: unknown, third?: unknown, position?: Position) {
      if (typeof data === 'string')
        return writeAt(volume(), at(fd, 'write'), readBytes(data, third), second as Position);
      const bytes = readBytes(data);
      const named =
        typeof second === 'object' && second !== null
          ? (second as Options)
          : { offset: second, length: third, position };
      const offset = (named['offset'] as number | undefined) ?? 0;
      const end = typeof named['length'] === 'number' ? offset + named['length'] : undefined;
      return writeAt(volume(), at(fd, 'write'), bytes.subarray(offset, end), named['position'] as Position);
    },
    writev(fd: number, buffers: Uint8Array[], position?: Position) {
      let [written, where] = [0, position];
      for (const bytes of buffers) {
        written += writeAt(volume(), at(fd, 'write'), readBytes(bytes), where);
        if (typeof where === 'number') where += bytes.byteLength;
      }
      return written;
    },
    fstat: (fd: number) => new Stats(at(fd, 'fstat').node),
    ftruncate: (fd: number, length = 0) =>
      volume().resize(fileOf(at(fd, 'ftruncate'), 'ftruncate'), readLength(length)),
    fsync: (fd: number) => void at(fd, 'fsync'),
    fdatasync: (fd: number) => void at(fd, 'fdatasync'),
    fchmod: (fd: number, mode: number) => void (at(fd, 'fchmod').node.mode = mode),
    fchown: (fd: number) => void at(fd, 'fchown'),
    futimes: (fd: number) => void at(fd, 'futimes'),
  };
}

function directoryCalls(volume: () => Volume): SyncCalls {
  const readdir = (
    path: string,
    recursive: boolean,
  ): { name: string; parent: string; kind: 'file' | 'directory' }[] => {
    const node = volume().find(path, 'scandir');
    if (node.kind === 'file') throw fsError('ENOTDIR', 'scandir', path);
    return [...node.entries]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, child]) => {
        const entry = { name, parent: path, kind: child.kind };
        return recursive && child.kind === 'directory' ? [entry, ...readdir(posix.join(path, name), true)] : [entry];
      });
  };
  const mkdirs = (path: string, mode?: number): string | undefined => {
    const existing = volume().lookup(path, 'mkdir');
    if (existing?.kind === 'directory') return undefined;
    if (existing !== undefined) throw fsError('EEXIST', 'mkdir', path);
    const first = mkdirs(posix.dirname(path), mode);
    volume().createDirectory(path, 'mkdir', mode);
    return first ?? path;
  };
  return {
    mkdir(path: unknown, given?: unknown) {
      const options: Options = typeof given === 'number' ? { mode: given } : readFileOptions(given);
      const mode = options['mode'] as number | undefined;
      if (options['recursive'] === true) return mkdirs(posix.resolve('/tmp', readFilePath(path)), mode);
      return volume().createDirectory(readFilePath(path), 'mkdir', mode);
    },
    readdir(path: unknown, given?: unknown) {
      const options = readFileOptions(given);
      const root = readFilePath(path);
      const entries = readdir(root, options['recursive'] === true);
      return options['withFileTypes'] === true
        ? entries.map(({ name, parent, kind }) => new Dirent(name, parent, kind))
        : entries.map(({ name, parent }) => posix.join(posix.relative(root, parent), name));
    },
    mkdtemp(prefix: unknown) {
      const random = crypto.getRandomValues(new Uint8Array(6));
      const text = readFilePath(prefix, 'prefix');
      // As the system tells a failure: of its pattern.
      volume().parentOf(`${text}XXXXXX`, 'mkdtemp');
      const path = text + [...random].map((byte) => RANDOM_CHARS[byte % RANDOM_CHARS.length]).join('');
      volume().createDirectory(path, 'mkdtemp', 0o700);
      return path;
    },
  };
}

function removalCalls(volume: () => Volume): SyncCalls {
  return {
    rmdir(path: unknown) {
      const text = readFilePath(path);
      const node = volume().find(text, 'rmdir');
      if (node.kind === 'file') throw fsError('ENOTDIR', 'rmdir', text);
      if (node.entries.size > 0) throw fsError('ENOTEMPTY', 'rmdir', text);
      volume().remove(text, 'rmdir');
    },
    rm(path: unknown, given?: unknown) {
      const options = readFileOptions(given);
      const text = readFilePath(path);
      const node = volume().lookup(text, 'rm');
      if (node === undefined) {
        if (options['force'] === true) return;
        throw fsError('ENOENT', 'lstat', text);
      }
      if (node.kind === 'directory' && options['recursive'] !== true) throw isDirectory(text);
      volume().remove(text, 'rm');
    },
  };
}

function nodeCalls(volume: () => Volume): SyncCalls {
  const stat =
    (syscall: 'stat' | 'lstat') =>
    (path: unknown, given?: unknown): Stats | undefined => {
      const text = readFilePath(path);
      if (readFileOptions(given)['throwIfNoEntry'] === false && volume().lookup(text, syscall) === undefined)
        return undefined;
      return new Stats(volume().find(text, syscall));
    };
  const utimes = (path: unknown, accessed: unknown, changed: unknown): void => {
    const node = volume().find(readFilePath(path), 'utime');
    const toMs = (time: unknown): number => (time instanceof Date ? time.getTime() : Number(time) * 1000);
    Object.assign(node, { accessedMs: toMs(accessed), changedMs: toMs(changed) });
  };
  const refuse = (name: string) => (): never => {
    throw notAvailable(`fs.${name}`, 'there are no links');
  };
  return {
    stat: stat('stat'),
    lstat: stat('lstat'),
    utimes,
    lutimes: (path: unknown, accessed: unknown, changed: unknown) => utimes(path, accessed, changed),
    access(path: unknown, mode = 0) {
      const text = readFilePath(path);
      requireInteger('mode', mode, 0, 7);
      const node = volume().find(text, 'access');
      if ((mode & 2) !== 0 && node.kind === 'directory' && node.readOnly) throw fsError('EACCES', 'access', text);
    },
    exists(path: unknown) {
      try {
        return volume().lookup(readFilePath(path), 'access') !== undefined;
      } catch {
        // `exists` answers false for anything that is no path of a file.
        return false;
      }
    },
    chmod: (path: unknown, mode: number) => void (volume().find(readFilePath(path), 'chmod').mode = mode),
    chown: (path: unknown) => void volume().find(readFilePath(path), 'chown'),
    unlink(path: unknown) {
      const text = readFilePath(path);
      volume().parentOf(text, 'unlink');
      if (volume().find(text, 'unlink').kind === 'directory') throw fsError('EISDIR', 'unlink', text);
      volume().remove(text, 'unlink');
    },
    rename: (from: unknown, to: unknown) => volume().move(readFilePath(from), readFilePath(to)),
    realpath(path: unknown) {
      const text = readFilePath(path);
      volume().find(text, 'lstat');
      return posix.resolve('/tmp', text);
    },
    readlink(path: unknown) {
      const text = readFilePath(path);
      volume().find(text, 'readlink');
      throw fsError('EINVAL', 'readlink', text);
    },
    symlink: refuse('symlink'),
    link: refuse('link'),
  };
}
