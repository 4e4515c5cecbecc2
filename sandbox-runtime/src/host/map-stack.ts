import { createTenantTurns } from '@headwater/shared';
import { findSegmentsInTurns, type GeneratedPlace, type Segment } from './find-segments.ts';

const MAX_LINES = 30;
const MAX_LINE_CHARS = 1_000;
/** `    at run (hw:component:12:9)`, `    at async hw:component:3:1`. */
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

interface Mapping {
  sources: string[];
  mappings: string;
}

/** The author's frames of a stack, each led back to the file as it was saved. */
export interface MappedStack {
  text: string;
  /** Of the topmost frame. */
  place: SourcePlace;
}

/** Undefined where no frame of the stack is the author's. Frames of anything else are left out. */
export type MapStack = (
  tenantId: string,
  bundle: { sourceMap: string },
  stack: string,
) => Promise<MappedStack | undefined>;

/**
 * Maps stacks of bundles, and keeps the last of each: what fails again and again fails in one place. To look that up in a megabyte of
 * code takes the node's thread tens of milliseconds: it is done in turns with others, one at a time for each tenant.
 */
export function createStackMaps(): MapStack {
  const last = new WeakMap<object, { stack: string; mapped: MappedStack | undefined }>();
  const turns = createTenantTurns(1);
  return async (tenantId, bundle, stack) => {
    const calls = callsIn(stack);
    if (calls.length === 0) return undefined;
    // Every run and every load has an end: nothing calls it off.
    const end = await turns.take(tenantId, new AbortController().signal);
    try {
      const known = last.get(bundle);
      if (known?.stack === stack) return known.mapped;
      const map = readMap(bundle.sourceMap);
      const segments = map && (await findSegmentsInTurns(map.mappings, calls.map(placeInBundle)));
      const mapped = segments && mappedOf(framesOf(map, calls, segments));
      last.set(bundle, { stack, mapped });
      return mapped;
    } finally {
      end?.();
    }
  };
}

interface Call {
  name: string;
  at: GeneratedPlace;
}

const placeInBundle = ({ at }: Call) => at;

function callsIn(stack: string): Call[] {
  const lines = stack.split('\n', MAX_LINES).filter((line) => line.length <= MAX_LINE_CHARS);
  return lines.flatMap((line) => {
    const [, name = '', row, column] = FRAME.exec(line) ?? [];
    return row === undefined ? [] : [{ name, at: { line: Number(row) - 1, column: Number(column) - 1 } }];
  });
}

function framesOf(map: Mapping, calls: readonly Call[], segments: readonly (Segment | undefined)[]): Frame[] {
  return calls.flatMap(({ name }, index) => {
    const segment = segments[index];
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

/** A map that cannot be read maps nothing: the message of an error is worth more than its place. */
function readMap(sourceMap: string): Mapping | undefined {
  try {
    const { sources, mappings } = JSON.parse(sourceMap) as Partial<Mapping>;
    const areNames = Array.isArray(sources) && sources.every((source) => typeof source === 'string');
    return areNames && typeof mappings === 'string' ? { sources, mappings } : undefined;
  } catch {
    return undefined;
  }
}
