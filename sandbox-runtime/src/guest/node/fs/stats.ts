import type { FsNode } from './volume.ts';

const BLOCK_BYTES = 4096;
const FILE_TYPE = 0o100000;
const DIRECTORY_TYPE = 0o040000;

/** Kinds of entries in the volume: only files and directories. */
abstract class FileKind {
  abstract isFile(): boolean;
  isDirectory(): boolean {
    return !this.isFile();
  }
  isSymbolicLink(): boolean {
    return false;
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
  }
  isFIFO(): boolean {
    return false;
  }
  isSocket(): boolean {
    return false;
  }
}

/** `fs.Stats` of a node; with `bigint` its numbers are BigInts. */
export class Stats extends FileKind {
  readonly dev: number = 1;
  readonly mode: number;
  readonly nlink: number = 1;
  readonly uid: number = 0;
  readonly gid: number = 0;
  readonly rdev: number = 0;
  readonly blksize: number = BLOCK_BYTES;
  readonly ino: number;
  readonly size: number;
  readonly blocks: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
  readonly atime: Date;
  readonly mtime: Date;
  readonly ctime: Date;
  readonly birthtime: Date;

  constructor(node: FsNode) {
    super();
    this.mode = node.mode | (node.kind === 'file' ? FILE_TYPE : DIRECTORY_TYPE);
    this.ino = node.ino;
    this.size = node.kind === 'file' ? node.size : BLOCK_BYTES;
    this.blocks = Math.ceil(this.size / 512);
    this.atimeMs = node.accessedMs;
    this.mtimeMs = node.changedMs;
    this.ctimeMs = node.changedMs;
    this.birthtimeMs = node.birthMs;
    this.atime = new Date(node.accessedMs);
    this.mtime = new Date(node.changedMs);
    this.ctime = new Date(node.changedMs);
    this.birthtime = new Date(node.birthMs);
  }

  override isFile(): boolean {
    return (this.mode & FILE_TYPE) === FILE_TYPE;
  }
}

/** `fs.Dirent`: an entry as `readdir` with `withFileTypes` lists it. */
export class Dirent extends FileKind {
  readonly name: string;
  readonly parentPath: string;
  readonly #kind: FsNode['kind'];

  constructor(name: string, parentPath: string, kind: FsNode['kind']) {
    super();
    this.name = name;
    this.parentPath = parentPath;
    this.#kind = kind;
  }

  get path(): string {
    return this.parentPath;
  }
  override isFile(): boolean {
    return this.#kind === 'file';
  }
}
