import { LIMITS } from '@headwater/shared';
import type { Message } from 'esbuild';
import { isOfPattern } from '../bundler-failures.ts';
import type { UnpackedPackages } from './unpacked-packages.ts';

/** Start of an import's pattern in a package file: line from 1, column in bytes from 0. */
interface PatternPlace {
  line: number;
  column: number;
}

/**
 * Files of packages, by the names the bundler has for them, and the imports by a pattern that it
 * has found in each.
 */
export type FoundPatterns = Map<string, PatternPlace[]>;

/** A literal that a name begins with: `'./dialects/' + name`, `./dialects/${name}`. */
const PREFIX = /^(?:'([^'\\\n]*)'|"([^"\\\n]*)"|`([^`\\$]*)\$\{)/;
/** Text before the pattern: the call, with spaces, brackets and comments. */
const CALL = /(?<![\w$.])(require|import)\s*\((?:[\s(]|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/;
const MAX_CALL_CHARS = 1_000;
/** In all packages of a component. */
const MAX_PATTERNS = 200;

/**
 * Adds the imports by a pattern that the messages of a build are about, each in a file for which
 * `fileOf` has a name. False where none of them is new, or there are too many: then they are not
 * for `bindPatterns` to mend.
 */
export function collectPatterns(
  found: FoundPatterns,
  messages: readonly Message[],
  fileOf: (file: string) => string | undefined,
): boolean {
  let count = [...found.values()].reduce((sum, places) => sum + places.length, 0);
  const before = count;
  for (const message of messages) {
    const { location } = message;
    const file = isOfPattern(message) && location !== null ? fileOf(location.file) : undefined;
    if (file === undefined || location === null) continue;
    const places = found.get(file) ?? [];
    if (places.some(({ line, column }) => line === location.line && column === location.column)) continue;
    found.set(file, [...places, { line: location.line, column: location.column }]);
    count += 1;
    if (count > MAX_PATTERNS) return false;
  }
  return count > before;
}

/**
 * The text of a package's file in which the imports at `places` are calls of functions that know
 * the files the pattern may mean: those of the package that begin as it does. Others throw, as in
 * Node, where the import runs. The bundler then meets no pattern, for which it would look on the
 * disk. Nothing moves in the text, so that places of a later build are those of this one.
 * `withFiles`: false for functions that only throw.
 */
export function bindPatterns(
  text: string,
  places: readonly PatternPlace[],
  { importer, packages, withFiles }: { importer: string; packages: UnpackedPackages; withFiles: boolean },
): string {
  const starts = startsOfLines(text);
  let bound = text;
  let functions = '';
  for (const place of places) {
    const at = indexOf(text, starts[place.line - 1] ?? text.length, place.column);
    const begin = Math.max(0, at - MAX_CALL_CHARS);
    const call = CALL.exec(text.slice(begin, at));
    const callee = call?.[1];
    // It stays as it is, and the build is refused.
    if (call === null || callee === undefined) continue;
    const name = freeName(bound + functions, callee.length);
    const calleeAt = begin + call.index;
    bound = bound.slice(0, calleeAt) + name + bound.slice(calleeAt + callee.length);
    const files = withFiles ? filesOf(text.slice(at), importer, packages) : [];
    functions += `\n${makeFunction(name, callee, files)}`;
  }
  return bound + functions;
}

function filesOf(text: string, importer: string, packages: UnpackedPackages): string[] {
  const [, ...literals] = PREFIX.exec(text) ?? [];
  const prefix = literals.find((literal) => literal !== undefined);
  return prefix === undefined ? [] : packages.namesFrom(importer, prefix, LIMITS.maxPatternFiles);
}

function makeFunction(name: string, callee: string, files: readonly string[]): string {
  const cases = files.map((file) => `case ${JSON.stringify(file)}: return ${callee}(${JSON.stringify(file)});`);
  const code = callee === 'import' ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND';
  const error = `Object.assign(new Error("Cannot find module '" + path + "'"), { code: '${code}' })`;
  return `${callee === 'import' ? 'async ' : ''}function ${name}(path) { switch (path) { ${cases.join('\n')} } throw ${error}; }`;
}

/** A name of that many characters that the text does not have. */
function freeName(text: string, length: number): string {
  for (let i = 0; ; i++) {
    const name = `hw${i.toString(36).padStart(length - 2, '_')}`;
    if (!text.includes(name)) return name;
  }
}

function startsOfLines(text: string): number[] {
  const starts = [0];
  for (const { index } of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g))
    starts.push(index + (text.startsWith('\r\n', index) ? 2 : 1));
  return starts;
}

/** The bundler counts bytes. */
function indexOf(text: string, lineStart: number, bytes: number): number {
  let at = lineStart;
  for (let left = bytes; left > 0 && at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    left -= point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    at += point < 0x10000 ? 1 : 2;
  }
  return at;
}
