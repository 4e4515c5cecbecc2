import { ASK } from '../protocol/isolate-calls.ts';
import { findSegments } from '../protocol/find-segments.ts';
import { readMap, type SourceMap } from '../protocol/source-map.ts';
import type { Bridge } from './bridge.ts';
import { applyFunction, parseJson, sliceText, toText } from './intrinsics.ts';
import { PrivateMap } from './private-map.ts';

const BUNDLE = 'hw:component:';
/** Code of packages, whose places no map tells. */
const PACKAGES = 'node_modules:';
const MAX_KNOWN_PLACES = 1_000;
const { indexOf, charCodeAt } = String.prototype;
const { toString: errorToString } = Error.prototype;
const [ZERO, NINE] = [48, 57];

/**
 * Makes `stack` name the author's files and lines. V8 calls this when a stack is first read, so
 * errors that nobody looks at cost nothing; the map is asked for with the first of them, and all is
 * on the clock of the isolate. It is a property of `Error` as in Node: a component may put its own
 * in its place, and what it then says of its errors is its own affair.
 */
export function mapStacks(bridge: Bridge): void {
  const known = new PrivateMap<string, string>();
  let map: SourceMap | undefined;
  let wasAsked = false;

  function mapOnce(): SourceMap | undefined {
    if (!wasAsked) map = readMap(bridge.ask(ASK.sourceMap, 0) as string, parseJson);
    wasAsked = true;
    return map;
  }

  /** `12:9` in the bundle, as the place in a file. */
  function placeOf(row: number, column: number): string {
    const at = `${row}:${column}`;
    const found = known.get(at);
    if (found !== undefined) return found;
    const current = mapOnce();
    const [segment] =
      current === undefined ? [] : findSegments(current.mappings, [{ line: row - 1, column: column - 1 }]);
    const file = segment?.source === undefined ? undefined : current?.sources[segment.source];
    const none = current === undefined ? BUNDLE : PACKAGES;
    const place =
      segment === undefined || file === undefined
        ? `${none}${at}`
        : `${file}:${segment.line + 1}:${segment.column + 1}`;
    if (known.size < MAX_KNOWN_PLACES) known.set(at, place);
    return place;
  }

  function frameOf(text: string): string {
    const start = applyFunction(indexOf, text, [BUNDLE]) as number;
    if (start === -1) return text;
    const row = readNumber(text, start + BUNDLE.length);
    const column = readNumber(text, row.end + 1);
    if (row.end === start + BUNDLE.length || column.end === row.end + 1) return text;
    return sliceText(text, 0, start) + placeOf(row.value, column.value) + sliceText(text, column.end);
  }

  function prepareStackTrace(error: unknown, sites: readonly unknown[]): string {
    let text = headOf(error);
    for (let index = 0; index < sites.length; index += 1) {
      const frame = toText(sites[index]);
      text += `\n    at ${mappedOr(frame)}`;
    }
    return text;
  }

  /**
   * A component can break what the mapping uses of the language: its stacks are then as V8 writes
   * them.
   */
  function mappedOr(frame: string): string {
    try {
      return frameOf(frame);
    } catch {
      return frame;
    }
  }

  Object.defineProperty(prepareStackTrace, 'name', { value: 'ErrorPrepareStackTrace', configurable: true });
  Object.defineProperty(Error, 'prepareStackTrace', {
    value: prepareStackTrace,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

function headOf(error: unknown): string {
  try {
    return applyFunction(errorToString, error, []) as string;
  } catch {
    return '<error>';
  }
}

function readNumber(text: string, from: number): { value: number; end: number } {
  let end = from;
  let value = 0;
  for (;;) {
    const code = applyFunction(charCodeAt, text, [end]) as number;
    if (!(code >= ZERO && code <= NINE)) return { value, end };
    value = value * 10 + code - ZERO;
    end += 1;
  }
}
