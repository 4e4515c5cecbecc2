/** A place in generated code, both 0-based. */
export interface GeneratedPlace {
  line: number;
  column: number;
}

/**
 * Origin of a piece of generated code, all 0-based; `source` is undefined if the map gives none.
 */
export interface Segment {
  source: number | undefined;
  line: number;
  column: number;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = Int8Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));
/** Half a millisecond. */
const STEPS_AT_ONCE = 5_000;
const COMMA = 44;
const SEMICOLON = 59;

/**
 * Finds the segment at or before each place, in the order of `places`, in one pass over a source
 * map's mappings (https://tc39.es/ecma426/). It builds no index: Node's own class takes 650 ms for
 * the map of a megabyte of code. A component that throws in every run would block its node that
 * long each time. Also runs in isolates.
 */
export function findSegments(mappings: string, places: readonly GeneratedPlace[]): (Segment | undefined)[] {
  const search = searchSegments(mappings, places);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
  }
}

/** Yields after a fixed number of segments. */
export function* searchSegments(
  mappings: string,
  places: readonly GeneratedPlace[],
): Generator<undefined, (Segment | undefined)[], undefined> {
  const found: (Segment | undefined)[] = places.map(() => undefined);
  const waiting = [...places.entries()].sort(([, a], [, b]) => compare(a, b));
  const reader = new SegmentReader(mappings);
  let steps = 0;
  for (const [index, place] of waiting) {
    while (reader.hasNext && compare(reader.next, place) <= 0) {
      reader.advance();
      if (++steps % STEPS_AT_ONCE === 0) yield;
    }
    found[index] = reader.current;
  }
  return found;
}

function compare(a: GeneratedPlace, b: GeneratedPlace): number {
  return a.line - b.line || a.column - b.column;
}

/**
 * Walks along the segments: `current` is the one that was passed last, `next` says where the
 * following one begins.
 */
class SegmentReader {
  readonly next: GeneratedPlace = { line: 0, column: 0 };
  hasNext = true;
  readonly #mappings: string;
  #at = 0;
  #fields = 0;
  #isFirst = true;
  readonly #from = new Int32Array(4);
  readonly #passed = new Int32Array(4);

  constructor(mappings: string) {
    this.#mappings = mappings;
    this.#read();
  }

  get current(): Segment | undefined {
    if (this.#isFirst) return undefined;
    const [fields = 0, source = 0, line = 0, column = 0] = this.#passed;
    return { source: fields >= 4 ? source : undefined, line, column };
  }

  advance(): void {
    this.#isFirst = false;
    this.#passed.set(this.#from);
    this.#passed[0] = this.#fields;
    this.#read();
  }

  #read(): void {
    const mappings = this.#mappings;
    let code = mappings.charCodeAt(this.#at);
    for (; code === COMMA || code === SEMICOLON; code = mappings.charCodeAt(++this.#at)) {
      if (code === COMMA) continue;
      this.next.line += 1;
      this.next.column = 0;
    }
    this.hasNext = this.#at < mappings.length;
    this.#fields = 0;
    let value = 0;
    let shift = 0;
    for (; code !== COMMA && code !== SEMICOLON && this.#at < mappings.length; code = mappings.charCodeAt(++this.#at)) {
      const digit = VALUES[code] ?? 0;
      value |= (digit & 31) << shift;
      shift += 5;
      if (digit >= 32) continue;
      this.#take(value & 1 ? -(value >>> 1) : value >>> 1);
      value = 0;
      shift = 0;
    }
  }

  /**
   * The fields of a segment: generated column, source, line, column and, unused, a name; each a
   * difference.
   */
  #take(difference: number): void {
    const field = this.#fields++;
    if (field === 0) this.next.column += difference;
    else if (field < 4) this.#from[field] = (this.#from[field] ?? 0) + difference;
  }
}
