import posixPath from 'path-browserify';
import { win32 } from 'unenv/node/path';

/** Node's path as on Linux. */
export interface PathModule {
  resolve(...paths: string[]): string;
  normalize(path: string): string;
  isAbsolute(path: string): boolean;
  join(...paths: string[]): string;
  relative(from: string, to: string): string;
  dirname(path: string): string;
  basename(path: string, suffix?: string): string;
  extname(path: string): string;
  toNamespacedPath(path: string): string;
  posix: PathModule;
  win32: unknown;
}

const { resolve, normalize, isAbsolute, join, relative, dirname, basename, extname, format, parse } = posixPath;

export const posix = {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath: (path: string): string => path,
  dirname,
  basename,
  extname,
  format,
  parse,
  sep: '/',
  delimiter: ':',
  win32,
} as unknown as PathModule;
posix.posix = posix;

export { win32 };
