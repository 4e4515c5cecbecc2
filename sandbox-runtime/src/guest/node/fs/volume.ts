import { now } from '../../intrinsics.ts';
import { posix } from '../path.ts';
import { fsError, tmpFull } from './fs-error.ts';

export interface FileNode {
  kind: 'file';
  ino: number;
  /** Longer than the file, so that appending does not copy all of it each time. */
  data: Uint8Array<ArrayBuffer>;
  size: number;
  mode: number;
  birthMs: number;
  changedMs: number;
  accessedMs: number;
}

export interface DirectoryNode {
  kind: 'directory';
  ino: number;
  entries: Map<string, FsNode>;
  mode: number;
  birthMs: number;
  changedMs: number;
  accessedMs: number;
  /** Nothing can be made or removed in it. */
  readOnly: boolean;
}

export type FsNode = FileNode | DirectoryNode;

export interface VolumeLimits {
  maxTmpBytes: number;
  maxTmpEntries: number;
}

export interface OpenFile {
  node: FsNode;
  path: string;
  position: number;
  readable: boolean;
  writable: boolean;
  appends: boolean;
}

const MAX_OPEN_FILES = 256;
const MIN_FILE_BYTES = 256;
const FIRST_FD = 20;

/**
 * The files of one run: a root that cannot be changed, and `/tmp` in it. Everything is in the
 * isolate's memory.
 */
export class Volume {
  readonly #limits: VolumeLimits;
  readonly #root: DirectoryNode;
  readonly #open = new Map<number, OpenFile>();
  #bytes = 0;
  #entries = 0;
  #nextIno = 1;
  #nextFd = FIRST_FD;

  constructor(limits: VolumeLimits) {
    this.#limits = limits;
    this.#root = this.#directory(0o755, true);
    this.#root.entries.set('tmp', this.#directory(0o1777, false));
  }

  /** The node at a path, or an error as for `syscall`. */
  find(path: string, syscall: string, dest?: string): FsNode {
    const node = this.lookup(path, syscall);
    if (node === undefined) throw fsError('ENOENT', syscall, path, dest);
    return node;
  }

  lookup(path: string, syscall: string): FsNode | undefined {
    let node: FsNode | undefined = this.#root;
    for (const name of namesOf(path)) {
      if (node === undefined) return undefined;
      if (node.kind === 'file') throw fsError('ENOTDIR', syscall, path);
      node = node.entries.get(name);
    }
    return node;
  }

  file(path: string, syscall: string, dest?: string): FileNode {
    const node = this.find(path, syscall, dest);
    if (node.kind === 'directory') throw fsError('EISDIR', syscall, path);
    return node;
  }

  /** The directory that holds a path, and the last name: both for making and for removing it. */
  parentOf(path: string, syscall: string): { parent: DirectoryNode; name: string } {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw fsError('EPERM', syscall, path);
    const parent = this.lookup(`/${names.join('/')}`, syscall);
    if (parent === undefined) throw fsError(names[0] === 'tmp' ? 'ENOENT' : 'EACCES', syscall, path);
    if (parent.kind === 'file') throw fsError('ENOTDIR', syscall, path);
    if (parent.readOnly) throw fsError('EACCES', syscall, path);
    return { parent, name };
  }

  createFile(path: string, syscall: string, mode = 0o666): FileNode {
    const { parent, name } = this.parentOf(path, syscall);
    const timeMs = now();
    const file: FileNode = {
      kind: 'file',
      ino: this.#nextIno++,
      data: new Uint8Array(0),
      size: 0,
      mode: mode & ~0o022,
      birthMs: timeMs,
      changedMs: timeMs,
      accessedMs: timeMs,
    };
    this.#link(parent, name, file, syscall, path);
    return file;
  }

  createDirectory(path: string, syscall: string, mode = 0o777): void {
    if (this.lookup(path, syscall) !== undefined) throw fsError('EEXIST', syscall, path);
    const { parent, name } = this.parentOf(path, syscall);
    if (parent.entries.has(name)) throw fsError('EEXIST', syscall, path);
    this.#link(parent, name, this.#directory(mode & ~0o022, false), syscall, path);
  }

  /** Takes an entry out; a file that is open can still be read and written. */
  remove(path: string, syscall: string): void {
    const { parent, name } = this.parentOf(path, syscall);
    const node = parent.entries.get(name);
    if (node === undefined) throw fsError('ENOENT', syscall, path);
    if (node.kind === 'directory')
      for (const child of node.entries.keys()) this.remove(posix.join(path, child), syscall);
    else this.#bytes -= node.size;
    parent.entries.delete(name);
    parent.changedMs = now();
    this.#entries -= 1;
  }

  move(from: string, to: string): void {
    const node = this.find(from, 'rename', to);
    const source = this.parentOf(from, 'rename');
    const target = this.parentOf(to, 'rename');
    if (`${posix.resolve(to)}/`.startsWith(`${posix.resolve(from)}/`) && node.kind === 'directory')
      throw fsError('EINVAL', 'rename', from, to);
    const replaced = target.parent.entries.get(target.name);
    if (replaced === node) return;
    if (replaced !== undefined) {
      if (replaced.kind === 'directory' && node.kind === 'file') throw fsError('EISDIR', 'rename', from, to);
      if (replaced.kind === 'file' && node.kind === 'directory') throw fsError('ENOTDIR', 'rename', from, to);
      if (replaced.kind === 'directory' && replaced.entries.size > 0) throw fsError('ENOTEMPTY', 'rename', from, to);
      this.remove(to, 'rename');
    }
    source.parent.entries.delete(source.name);
    target.parent.entries.set(target.name, node);
  }

  write(file: FileNode, bytes: Uint8Array, at: number): number {
    const end = at + bytes.length;
    this.resize(file, Math.max(file.size, end));
    file.data.set(bytes, at);
    return bytes.length;
  }

  /** Bytes beyond the old end are zero. */
  resize(file: FileNode, size: number): void {
    const grownBytes = size - file.size;
    if (this.#bytes + grownBytes > this.#limits.maxTmpBytes)
      throw tmpFull('maxTmpBytes', this.#limits.maxTmpBytes, this.#bytes + grownBytes, 'write');
    if (size > file.data.length) {
      const larger = new Uint8Array(
        Math.min(Math.max(MIN_FILE_BYTES, size, file.data.length * 2), this.#limits.maxTmpBytes),
      );
      larger.set(file.data.subarray(0, file.size));
      file.data = larger;
    } else if (grownBytes < 0) file.data.fill(0, size, file.size);
    this.#bytes += grownBytes;
    file.size = size;
    file.changedMs = now();
  }

  open(entry: OpenFile): number {
    if (this.#open.size >= MAX_OPEN_FILES) throw fsError('EMFILE', 'open', entry.path);
    const fd = this.#nextFd++;
    this.#open.set(fd, entry);
    return fd;
  }

  opened(fd: number, syscall: string): OpenFile {
    const entry = this.#open.get(fd);
    if (entry === undefined) throw fsError('EBADF', syscall);
    return entry;
  }

  close(fd: number): void {
    this.opened(fd, 'close');
    this.#open.delete(fd);
  }

  #directory(mode: number, readOnly: boolean): DirectoryNode {
    const timeMs = now();
    return {
      kind: 'directory',
      ino: this.#nextIno++,
      entries: new Map(),
      mode,
      birthMs: timeMs,
      changedMs: timeMs,
      accessedMs: timeMs,
      readOnly,
    };
  }

  #link(parent: DirectoryNode, name: string, node: FsNode, syscall: string, path: string): void {
    if (this.#entries >= this.#limits.maxTmpEntries)
      throw tmpFull('maxTmpEntries', this.#limits.maxTmpEntries, this.#entries + 1, syscall, path);
    this.#entries += 1;
    parent.entries.set(name, node);
    parent.changedMs = now();
  }
}

function namesOf(path: string): string[] {
  return posix
    .resolve('/tmp', path)
    .split('/')
    .filter((name) => name !== '');
}
