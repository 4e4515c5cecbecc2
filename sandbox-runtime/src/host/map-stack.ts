import { findSegments, type GeneratedPlace } from './find-segments.ts';

const MAX_LINES = 30;
const MAX_LINE_CHARS = 1_000;
/** `    at run (hw:component:12:9)`, `    at async hw:component:3:1`. */
const FRAME = /^ {4}at (.{0,500}?) ?\(?hw:component:(\d{1,9}):(\d{1,9})\)?$/;

export interface SourcePlace {
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

/** The author's frames of a stack, each led back to the file as it was saved. Frames of anything else are left out. */
export class StackMapper {
  readonly #sourceMap: string;

  /** A map that cannot be read maps nothing: the message of an error is worth more than its place. */
  constructor(sourceMap: string) {
    this.#sourceMap = sourceMap;
  }

  /** Undefined when no frame is the author's. */
  map(stack: string): string | undefined {
    const frames = this.#frames(stack).map(({ name, place }) => {
      const at = `${place.file}:${place.line}:${place.column + 1}`;
      return name === '' ? `    at ${at}` : `    at ${name} (${at})`;
    });
    return frames.length === 0 ? undefined : frames.join('\n');
  }

  /** Where the topmost frame of the author is. */
  place(stack: string): SourcePlace | undefined {
    return this.#frames(stack)[0]?.place;
  }

  #frames(stack: string): Frame[] {
    const lines = stack.split('\n', MAX_LINES).filter((line) => line.length <= MAX_LINE_CHARS);
    const matches = lines.map((line) => FRAME.exec(line)).filter((match) => match !== null);
    const places = matches.map(
      ([, , line, column]): GeneratedPlace => ({ line: Number(line) - 1, column: Number(column) - 1 }),
    );
    return this.#places(places).flatMap((place, index) =>
      place === undefined ? [] : [{ name: matches[index]?.[1] ?? '', place }],
    );
  }

  #places(places: readonly GeneratedPlace[]): (SourcePlace | undefined)[] {
    const map = places.length === 0 ? undefined : readMap(this.#sourceMap);
    if (map === undefined) return [];
    return findSegments(map.mappings, places).map((segment) => {
      // A segment without a source is code of a package.
      const file = segment?.source === undefined ? undefined : map.sources[segment.source];
      return segment === undefined || file === undefined
        ? undefined
        : { file, line: segment.line + 1, column: segment.column };
    });
  }
}

export type MapStack = (bundle: { sourceMap: string }, stack: string) => string | undefined;

/**
 * Maps stacks of bundles, and keeps the last of each: what fails again and again fails in one place, and to look that up in a
 * large bundle takes some ten milliseconds of the node's thread.
 */
export function createStackMaps(): MapStack {
  const last = new WeakMap<object, { stack: string; mapped: string | undefined }>();
  return (bundle, stack) => {
    const known = last.get(bundle);
    if (known?.stack === stack) return known.mapped;
    const mapped = new StackMapper(bundle.sourceMap).map(stack);
    last.set(bundle, { stack, mapped });
    return mapped;
  };
}

function readMap(sourceMap: string): Mapping | undefined {
  try {
    const { sources, mappings } = JSON.parse(sourceMap) as Partial<Mapping>;
    return Array.isArray(sources) && typeof mappings === 'string' ? { sources, mappings } : undefined;
  } catch {
    // See the constructor.
    return undefined;
  }
}
