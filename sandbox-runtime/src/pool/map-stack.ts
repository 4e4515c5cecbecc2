import { createLimiter } from '@headwater/shared';
import type { GeneratedPlace, Segment } from '../bridge/find-segments.ts';
import { readMap, type SourceMap } from '../bridge/source-map.ts';
import { findSegmentsInTurns } from './find-segments-in-turns.ts';

const MAX_LINES = 30;
const MAX_LINE_CHARS = 1_000;
/**
 * `    at run (hw:component:12:9)`, `    at async hw:component:3:1`: as V8 writes it, where the
 * isolate could not map it.
 */
const FRAME = /^ {4}at (.{0,500}?) ?\(?hw:component:(\d{1,9}):(\d{1,9})\)?$/;

interface SourcePlace {
  file: string;
  line: number;
  /** 0-based. */
  column: number;
}

interface Frame {
  name: string;
  place: SourcePlace;
}

/** The author's frames of a stack, each in the file as it was saved. */
export interface MappedStack {
  text: string;
  /** Place of the topmost frame. */
  place: SourcePlace;
}

/** Undefined where no frame of the stack is the author's. Frames of anything else are left out. */
export type MapStack = (
  tenantId: string,
  bundle: { sourceMap: string },
  stack: string,
) => Promise<MappedStack | undefined>;

/**
 * Maps stacks of bundles as far as their isolate has not done so, and keeps the last of each: what
 * fails again and again fails in one place. To look that up in a megabyte of code takes the node's
 * thread tens of milliseconds: it is done in turns with others, one at a time for each tenant.
 */
export function createStackMaps(): MapStack {
  const last = new WeakMap<object, { stack: string; mapped: MappedStack | undefined }>();
  const turns = createLimiter(1);
  return async (tenantId, bundle, stack) => {
    const calls = callsIn(stack);
    if (calls.length === 0) return undefined;
    // Every run and every load has an end: nothing calls it off.
    const end = await turns.take(tenantId, new AbortController().signal);
    try {
      const known = last.get(bundle);
      if (known?.stack === stack) return known.mapped;
      const map = readMap(bundle.sourceMap);
      const unmapped = calls.flatMap(({ at }) => at ?? []);
      const segments = map && unmapped.length > 0 ? await findSegmentsInTurns(map.mappings, unmapped) : [];
      const mapped = map && mappedOf(framesOf(map, calls, segments));
      last.set(bundle, { stack, mapped });
      return mapped;
    } finally {
      end?.();
    }
  };
}

/** Either a place in the bundle, or one in a file, which the isolate says. */
interface Call {
  name: string;
  at?: GeneratedPlace;
  place?: SourcePlace;
}

function callsIn(stack: string): Call[] {
  const lines = stack.split('\n', MAX_LINES).filter((line) => line.length <= MAX_LINE_CHARS);
  return lines.flatMap((line): Call | Call[] => {
    const [, name = '', row, column] = FRAME.exec(line) ?? [];
    if (row !== undefined) return [{ name, at: { line: Number(row) - 1, column: Number(column) - 1 } }];
    return mappedCall(line) ?? [];
  });
}

const AT = '    at ';
/** At the end of a line, because the beginning may contain anything. */
const PLACE = /:(\d{1,9}):(\d{1,9})\)?$/;

/**
 * `    at run (index.ts:12:9)`. The guest writes it: whether there is such a file, the map tells.
 */
function mappedCall(line: string): Call | undefined {
  const [end, row, column] = PLACE.exec(line.slice(-24)) ?? [];
  if (end === undefined || !line.startsWith(AT)) return undefined;
  const said = line.slice(AT.length, -end.length);
  const opened = end.endsWith(')') ? said.lastIndexOf(' (') : -1;
  const name = opened === -1 ? '' : said.slice(0, opened);
  const file = opened === -1 ? said.replace(/^async /, '') : said.slice(opened + 2);
  return { name, place: { file, line: Number(row), column: Number(column) - 1 } };
}

/** `segments`: of those that have a place in the bundle. */
function framesOf(map: SourceMap, calls: readonly Call[], segments: readonly (Segment | undefined)[]): Frame[] {
  const files = new Set(map.sources);
  const left = segments.values();
  return calls.flatMap(({ name, place }) => {
    if (place !== undefined) return files.has(place.file) ? [{ name, place }] : [];
    const segment = left.next().value;
    // A segment without a source is code of a package.
    const file = segment?.source === undefined ? undefined : map.sources[segment.source];
    if (segment === undefined || file === undefined) return [];
    return [{ name, place: { file, line: segment.line + 1, column: segment.column } }];
  });
}

function mappedOf(frames: readonly Frame[]): MappedStack | undefined {
  const [top] = frames;
  if (top === undefined) return undefined;
  const lines = frames.map(({ name, place }) => {
    const at = `${place.file}:${place.line}:${place.column + 1}`;
    return name === '' ? `    at ${at}` : `    at ${name} (${at})`;
  });
  return { text: lines.join('\n'), place: top.place };
}
