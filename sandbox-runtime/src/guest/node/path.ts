import posixPath from 'path-browserify';
import { win32 } from 'unenv/node/path';
import { invalidArgument, requireString } from './errors.ts';

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

type AnyFunction = (...args: unknown[]) => unknown;

/** The package's functions say what they were given without a code. */
function checked(name: string, work: unknown, names: readonly string[]): unknown {
  const check = { [name]: (...args: unknown[]) => checkedCall(work as AnyFunction, names, args) };
  return check[name];
}

function checkedCall(work: AnyFunction, names: readonly string[], args: unknown[]): unknown {
  const [first = ''] = names;
  const isList = first === 'paths' || first === '...';
  const count = isList ? args.length : names.length;
  for (let index = 0; index < count; index += 1) {
    const named = first === 'paths' ? `paths[${index}]` : first === '...' ? 'path' : names[index];
    const isOptional = named === 'suffix' && args[index] === undefined;
    if (named !== undefined && !isOptional) requireString(named, args[index]);
  }
  return work(...args);
}

const { resolve, normalize, isAbsolute, join, relative, dirname, basename, extname, format, parse } = posixPath;

export const posix = {
  resolve: checked('resolve', resolve, ['paths']),
  normalize: checked('normalize', normalize, ['path']),
  isAbsolute: checked('isAbsolute', isAbsolute, ['path']),
  join: checked('join', join, ['...']),
  relative: checked('relative', relative, ['from', 'to']),
  toNamespacedPath: (path: string): string => path,
  dirname: checked('dirname', dirname, ['path']),
  basename: checked('basename', basename, ['path', 'suffix']),
  extname: checked('extname', extname, ['path']),
  format: (pathObject: unknown): unknown => {
    if (typeof pathObject !== 'object' || pathObject === null)
      throw invalidArgument('pathObject', 'of type object', pathObject);
    return format(pathObject as Parameters<typeof format>[0]);
  },
  parse: checked('parse', parse, ['path']),
  sep: '/',
  delimiter: ':',
  win32,
} as unknown as PathModule;
posix.posix = posix;

export { win32 };
