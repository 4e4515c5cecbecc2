import { codedError, invalidArgument, invalidValue } from '../errors.ts';
import { inspect } from '../inspect.ts';

export type Options = Record<string, unknown>;

/** A path as fs functions take it: text, bytes or a file: URL. */
export function readFilePath(path: unknown, name = 'path'): string {
  if (path instanceof URL) {
    if (path.protocol !== 'file:')
      throw codedError('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file', TypeError);
    return decodeURIComponent(path.pathname);
  }
  const text = path instanceof Uint8Array ? Buffer.from(path).toString('utf8') : path;
  if (typeof text !== 'string') throw invalidArgument(name, 'of type string or an instance of Buffer or URL', path);
  if (text.includes('\0'))
    throw codedError(
      'ERR_INVALID_ARG_VALUE',
      `The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received ${inspect(text)}`,
      TypeError,
    );
  return text;
}

/** Options, or the encoding alone. */
export function readFileOptions(options: unknown): Options {
  const read = typeof options === 'string' ? { encoding: options } : isOptions(options) ? options : {};
  const { encoding, mode } = read;
  if (typeof encoding === 'string' && encoding !== 'buffer' && !Buffer.isEncoding(encoding))
    throw codedError(
      'ERR_INVALID_ARG_VALUE',
      `The argument 'encoding' is invalid encoding. Received ${inspect(encoding)}`,
    );
  if (typeof mode === 'string' && !/^[0-7]+$/.test(mode))
    throw invalidValue('mode', mode, 'must be a 32-bit unsigned integer or an octal string');
  return read;
}

function isOptions(options: unknown): options is Options {
  return typeof options === 'object' && options !== null;
}

export function readBytes(
  data: unknown,
  encoding?: unknown,
  name = 'data',
  expected = 'of type string or an instance of Buffer, TypedArray, or DataView',
): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, (encoding as BufferEncoding | null | undefined) ?? 'utf8');
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw invalidArgument(name, expected, data);
}

export interface OpenMode {
  readable: boolean;
  writable: boolean;
  appends: boolean;
  creates: boolean;
  truncates: boolean;
  exclusive: boolean;
}

const FLAGS = { write: 1, readWrite: 2, create: 0o100, exclusive: 0o200, truncate: 0o1000, append: 0o2000 } as const;

/** `r`, `w+`, `ax` and the like, or the number that open(2) takes. */
export function readFlags(flags: unknown = 'r'): OpenMode {
  if (typeof flags === 'number') {
    const writable = (flags & (FLAGS.write | FLAGS.readWrite)) !== 0;
    return {
      readable: (flags & FLAGS.write) === 0,
      writable,
      appends: (flags & FLAGS.append) !== 0,
      creates: (flags & FLAGS.create) !== 0,
      truncates: (flags & FLAGS.truncate) !== 0,
      exclusive: (flags & FLAGS.exclusive) !== 0,
    };
  }
  const text = typeof flags === 'string' ? flags : 'r';
  const match = /^([rwa])(s?)(x?)(s?)(\+?)$/.exec(text.replace('+x', 'x+').replace('+s', 's+'));
  if (match === null)
    throw codedError('ERR_INVALID_ARG_VALUE', `The argument 'flags' is invalid. Received ${inspect(flags)}`, TypeError);
  const [, kind, , exclusive, , plus] = match;
  return {
    readable: kind === 'r' || plus === '+',
    writable: kind !== 'r' || plus === '+',
    appends: kind === 'a',
    creates: kind !== 'r',
    truncates: kind === 'w',
    exclusive: exclusive === 'x',
  };
}
