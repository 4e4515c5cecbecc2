import { findSegments, type GeneratedPlace, type Segment } from '../bridge/find-segments.ts';
import { readMap, type SourceMap } from '../bridge/source-map.ts';
import type { Bridge } from './bridge.ts';
import { append, applyFunction, parseJson, sliceText, toText } from './intrinsics.ts';
import { SHOWS_CODE } from './node/errors.ts';
import { PrivateMap } from './private-map.ts';

const BUNDLE = 'hw:component:';
/** Code of packages, whose positions the map does not contain. */
const PACKAGES = 'node_modules:';
const MAX_KNOWN_PLACES = 1_000;
const { indexOf, charCodeAt } = String.prototype;
const { toString: errorToString } = Error.prototype;
const [ZERO, NINE] = [48, 57];

/**
 * Makes `stack` name the author's files and lines. V8 calls this when a stack is first read, so
 * unread errors cost nothing. The map is requested with the first one, on the isolate's clock. As
 * in Node, it is a property of `Error`: a component may replace it, and then decides itself how its
 * errors look.
 */
export function mapStacks(bridge: Bridge): void {
  const known = new PrivateMap<string, string>();
  let map: SourceMap | undefined;
  let wasAsked = false;

  function mapOnce(): SourceMap | undefined {
    if (!wasAsked) map = readMap(bridge.ask({ kind: 'source-map' }) as string, parseJson);
    wasAsked = true;
    return map;
  }

  /** Finds the places of all frames in one pass over the map, which may be a megabyte. */
  function learnPlaces(sites: readonly unknown[]): void {
    const unknown: PlaceInBundle[] = [];
    for (let index = 0; index < sites.length; index += 1) {
      const place = placeIn(toText(sites[index]));
      if (place !== undefined && !known.has(place.at)) append(unknown, place);
    }
    if (unknown.length === 0) return;
    if (known.size + unknown.length > MAX_KNOWN_PLACES) known.clear();
    const current = mapOnce();
    const segments = current === undefined ? [] : findSegments(current.mappings, unknown);
    for (let index = 0; index < unknown.length; index += 1) {
      const { at = '' } = unknown[index] ?? {};
      known.set(at, nameOf(at, segments[index], current));
    }
  }

  function frameOf(text: string): string {
    const place = placeIn(text);
    const found = place && known.get(place.at);
    if (place === undefined || found === undefined) return text;
    return sliceText(text, 0, place.start) + found + sliceText(text, place.end);
  }

  function prepareStackTrace(error: unknown, sites: readonly unknown[]): string {
    let text = headOf(error);
    try {
      learnPlaces(sites);
    } catch {
      // As below: the frames are as V8 writes them.
    }
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

function nameOf(at: string, segment: Segment | undefined, map: SourceMap | undefined): string {
  const file = segment?.source === undefined ? undefined : map?.sources[segment.source];
  if (segment === undefined || file === undefined) return `${map === undefined ? BUNDLE : PACKAGES}${at}`;
  return `${file}:${segment.line + 1}:${segment.column + 1}`;
}

/**
 * Both 0-based, as maps count. `at`: `12:9`, as V8 writes it, from `start` to `end` of the frame.
 */
interface PlaceInBundle extends GeneratedPlace {
  at: string;
  start: number;
  end: number;
}

function placeIn(frame: string): PlaceInBundle | undefined {
  const start = applyFunction(indexOf, frame, [BUNDLE]) as number;
  if (start === -1) return undefined;
  const row = readNumber(frame, start + BUNDLE.length);
  const column = readNumber(frame, row.end + 1);
  if (row.end === start + BUNDLE.length || column.end === row.end + 1) return undefined;
  return { line: row.value - 1, column: column.value - 1, at: `${row.value}:${column.value}`, start, end: column.end };
}

function headOf(error: unknown): string {
  try {
    const code = (error as { [SHOWS_CODE]?: string })[SHOWS_CODE];
    const head = applyFunction(errorToString, error, []) as string;
    if (code === undefined) return head;
    const end = applyFunction(indexOf, head, [':']) as number;
    return end === -1 ? head : `${sliceText(head, 0, end)} [${code}]${sliceText(head, end)}`;
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
