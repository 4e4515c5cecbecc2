import { codedError, invalidArgument, requireString } from './errors.ts';
import { posix } from './path.ts';

interface LegacyUrl extends Record<string, unknown> {
  parse(url: string): unknown;
}

/**
 * The functions of Node's `url`. Evaluated when they are asked for: they look for the URL class,
 * which is made after them.
 */
export function loadLegacyUrl(): Record<string, unknown> {
  const module = require('unenv/node/url') as LegacyUrl;
  withoutWarnings(() => module.parse('http://a:b'));
  return { ...module, fileURLToPath, pathToFileURL };
}

/** The package words its errors in other ways. */
function fileURLToPath(path: unknown): string {
  const isText = typeof path === 'string';
  if (!isText && !(path instanceof URL)) throw invalidArgument('path', 'of type string or an instance of URL', path);
  const url = isText ? new URL(path) : path;
  if (url.protocol !== 'file:') throw codedError('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file', TypeError);
  if (url.hostname !== '')
    throw codedError('ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux', TypeError);
  if (/%2f/i.test(url.pathname)) {
    const message = 'File URL path must not include encoded / characters';
    throw Object.assign(codedError('ERR_INVALID_FILE_URL_PATH', message, TypeError), { input: url });
  }
  return decodeURIComponent(url.pathname);
}

const ESCAPED: Readonly<Record<string, string>> = {
  '%': '%25',
  '\\': '%5C',
  '\n': '%0A',
  '\r': '%0D',
  '\t': '%09',
  '?': '%3F',
  '#': '%23',
};

function pathToFileURL(path: unknown): URL {
  requireString('path', path);
  const text = path as string;
  const resolved = posix.resolve('/tmp', text);
  const whole = text.endsWith('/') && !resolved.endsWith('/') ? `${resolved}/` : resolved;
  return new URL(`file://${whole.replaceAll(/[%\\\n\r\t?#]/g, (char) => ESCAPED[char] as string)}`);
}

// They say once in the log that they are out of fashion, which is of no use to the author of a
// component: this is that once.
function withoutWarnings(work: () => unknown): void {
  const target = globalThis.console as { warn: unknown };
  const { warn } = target;
  target.warn = () => undefined;
  work();
  target.warn = warn;
}
