import { randomInt } from 'node:crypto';
import type { Fault } from '../errors.ts';
import { platformLimit, type PlatformLimitName } from '../exceeded-limit.ts';
import { LIMITS } from '../limits/platform-limits.ts';

/** Smaller texts are parsed without a noticeable pause, with any content. */
const SMALL_CHARS = 128 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

interface JsonBounds {
  values: number;
  /** And objects. */
  lists: number;
  /** Different member names. */
  names: number;
}

/** Limits of the platform that a text is not to go over. */
type BoundNames = { readonly [Of in keyof JsonBounds]: PlatformLimitName };

const LIMITS_OF_REQUESTS = { values: 'maxApiJsonValues', lists: 'maxApiJsonLists', names: 'maxApiJsonNames' } as const;

const LIMITS_OF_OUTLINES = { values: 'maxOutlineValues', lists: 'maxOutlineLists', names: 'maxOutlineNames' } as const;

const OF_REQUESTS = boundsOf(LIMITS_OF_REQUESTS);
const OF_OUTLINES = boundsOf(LIMITS_OF_OUTLINES);

function boundsOf({ values, lists, names }: BoundNames): JsonBounds {
  return { values: LIMITS[values], lists: LIMITS[lists], names: LIMITS[names] };
}

const WORDS = { values: 'values', lists: 'lists and objects', names: 'different names of members' };

/** `findTooMany` for a request to the REST API. */
export function findTooManyOfRequest(text: string): Fault | undefined {
  return faultOf(findExcess(text, OF_REQUESTS), OF_REQUESTS, LIMITS_OF_REQUESTS);
}

/** `findTooMany` for a component's outline, and for its answers about props. */
export function findTooManyOfOutline(text: string): Fault | undefined {
  return faultOf(findExcess(text, OF_OUTLINES), OF_OUTLINES, LIMITS_OF_OUTLINES);
}

function faultOf(found: Excess | undefined, max: JsonBounds, names: BoundNames): Fault | undefined {
  if (found === undefined) return undefined;
  return { message: tell(found, max), limit: platformLimit(names[found.of], found.used) };
}

/**
 * Reason why a JSON text is too costly to parse; undefined if it may be parsed. Six megabytes of
 * `[],` are two million lists, which take the node's thread a second. Half a million different
 * member names take nearly as long; six megabytes of code take milliseconds. For text that is not
 * JSON the answer has no meaning.
 */
export function findTooMany(text: string, max = OF_REQUESTS): string | undefined {
  const found = findExcess(text, max);
  return found === undefined ? undefined : tell(found, max);
}

/** It is counted no further. */
interface Excess {
  of: keyof JsonBounds;
  used: number;
}

function tell({ of }: Excess, max: JsonBounds): string {
  return `has more than ${max[of]} ${WORDS[of]}`;
}

function findExcess(text: string, max: JsonBounds): Excess | undefined {
  if (text.length <= SMALL_CHARS) return undefined;
  const names = countNames(text);
  let values = 1;
  let lists = 0;
  let open = 0;
  let close = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      open = at;
      close = closingQuote(text, at);
      at = close;
    } else if (code === COLON) names.add(open, close);
    else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      lists += 1;
      values += 1;
    }
    if (lists > max.lists) return { of: 'lists', used: lists };
    if (values > max.values) return { of: 'values', used: values };
    if (names.count() > max.names) return { of: 'names', used: names.count() };
  }
  return undefined;
}

/**
 * A power of two, and many times the limit: of names that are at it one in twenty is not counted,
 * as another has its place.
 */
const NAME_PLACES = 2 ** 18;
/** A client that cannot predict the place of a name cannot send names that collide. */
const SEED = randomInt(2 ** 31);
const FNV_PRIME = 0x01000193;

/**
 * Counts names that differ: the engine keeps each, which takes a microsecond, and next to nothing
 * for one that it has.
 */
function countNames(text: string) {
  const places = new Uint8Array(NAME_PLACES);
  let count = 0;
  return {
    count: () => count,
    /** The quotes around it. */
    add(open: number, close: number): void {
      let hash = SEED;
      for (let at = open + 1; at < close; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
      const place = (hash ^ (hash >>> 15)) & (NAME_PLACES - 1);
      count += 1 - (places[place] as number);
      places[place] = 1;
    },
  };
}

/** The end of the text where the string has none. */
function closingQuote(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}
