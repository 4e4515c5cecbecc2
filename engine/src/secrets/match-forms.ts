import { randomInt } from 'node:crypto';
import { MIN_SECRET_CHARS } from './secret-forms.ts';

interface Pattern {
  /** At least MIN_SECRET_CHARS long. */
  text: string;
  /** Text that replaces the pattern. */
  mark: string;
}

/** Remaining budget for a text and its parts. Below zero the search stops. */
export interface Budget {
  /** Characters compared, and places looked up. */
  steps: number;
  /** Characters written. */
  room: number;
}

export interface Hit {
  start: number;
  end: number;
  mark: string;
}

export interface FormMatcher {
  /** Memory without patterns. */
  bytes: number;
  /**
   * Those of one secret after the other: of thousands together it would take tenths of a second.
   */
  add(patterns: readonly Pattern[]): void;
  /** The first match from `from` on; undefined if there is none, or the budget is used up. */
  find(text: string, from: number, budget: Budget): Turns<Hit | undefined>;
  /** The text with marks in place of patterns. Discard it if the budget is used up. */
  replace(text: string, budget: Budget): Turns<string>;
}

/** Work that stops wherever others may have the thread, and goes on when it is asked to. */
export type Turns<T> = Generator<undefined, T, undefined>;

/** Every pattern is found by its first characters, and none is shorter. */
const ANCHOR_CHARS = MIN_SECRET_CHARS;
const BITS = 14;
/**
 * Table size of a matcher for thousands of patterns, and of one for a few hundred. A node has
 * hundreds of the small ones.
 */
const ANCHOR_PLACES = { many: 2 ** 16, few: 2 ** 12 };
/** Random, so that an attacker cannot make texts whose anchors collide. */
const SEED = randomInt(2 ** 31);
const FNV_PRIME = 0x01000193;
export const CUT_MARK = '…';
const MAX_STEP_CHARS = 1024 * 1024;
/** Characters in one turn. A text that matches at every place takes half a millisecond. */
const TURN_CHARS = 64 * 1024;

/**
 * In proportion to the text, up to the size of an event. A crafted text with similar patterns could
 * take minutes of the node's one thread. Short patterns could take many times the memory. An honest
 * text takes a few steps per thousand characters.
 */
export function budgetFor(text: string): Budget {
  return { steps: 50_000 + 2 * Math.min(text.length, MAX_STEP_CHARS), room: 4_096 + 2 * text.length };
}

export const isSpent = (budget: Budget) => budget.steps < 0 || budget.room < 0;

/**
 * Finds many patterns in one pass (Wu and Manber, 1994): a table tells from the two characters at
 * the end of a window how far the window can move, nearly always by its whole width. Of the
 * patterns that fit at a place the longest is taken. A pattern that the text breaks off (`…`, where
 * a limit cut it) counts as found.
 */
export function createFormMatcher(patterns: 'many' | 'few'): FormMatcher {
  const shifts = new Uint8Array(1 << BITS).fill(ANCHOR_CHARS - 1);
  /** By the first two characters of anchors, and by the whole of them: whether there may be one. */
  const beginnings = new Uint8Array(1 << BITS);
  const anchors = new Uint8Array(ANCHOR_PLACES[patterns]);
  const byAnchor = new Map<string, Candidates>();

  /** Undefined: nothing further. */
  function* next(text: string, from: number, budget: Budget): Turns<Hit | undefined> {
    let last = from + ANCHOR_CHARS - 1;
    let turnEnd = last + TURN_CHARS;
    while (last < text.length) {
      if (last > turnEnd) {
        yield;
        turnEnd = last + TURN_CHARS;
      }
      const shift = shifts[blockOf(text, last)] as number;
      if (shift > 0) {
        last += shift;
        continue;
      }
      const start = last - ANCHOR_CHARS + 1;
      // A text of one letter may fit at its every place: looking up each took a quarter of a
      // second.
      if (beginnings[blockOf(text, start + 1)] === 0) {
        last += 1;
        continue;
      }
      budget.steps -= 1;
      if (anchors[placeOf(text, start, anchors)] === 0 && budget.steps >= 0) {
        last += 1;
        continue;
      }
      const hit = hitAt(byAnchor.get(text.slice(start, last + 1)), text, start, budget);
      if (hit !== undefined || isSpent(budget)) return hit;
      last += 1;
    }
    return undefined;
  }

  return {
    bytes: shifts.length + beginnings.length + anchors.length,
    add(more) {
      for (const pattern of more) {
        shorten(shifts, pattern.text);
        beginnings[blockOf(pattern.text, 1)] = 1;
        anchors[placeOf(pattern.text, 0, anchors)] = 1;
        const anchor = pattern.text.slice(0, ANCHOR_CHARS);
        const known = byAnchor.get(anchor);
        if (known === undefined) byAnchor.set(anchor, { patterns: [pattern], isSorted: true });
        else {
          known.patterns.push(pattern);
          known.isSorted = false;
        }
      }
    },
    find: next,
    replace: (text, budget) => replaceFound(next, text, budget),
  };
}

function* replaceFound(find: FormMatcher['find'], text: string, budget: Budget): Turns<string> {
  let replaced = '';
  let done = 0;
  for (;;) {
    const hit = yield* find(text, done, budget);
    if (hit === undefined) break;
    replaced += text.slice(done, hit.start) + hit.mark;
    budget.room -= hit.start - done + hit.mark.length;
    done = hit.end;
    if (isSpent(budget)) return '';
  }
  return done === 0 ? text : replaced + text.slice(done);
}

/** Patterns that begin alike. */
interface Candidates {
  patterns: Pattern[];
  /** The longest first. */
  isSorted: boolean;
}

function hitAt(candidates: Candidates | undefined, text: string, start: number, budget: Budget): Hit | undefined {
  if (candidates === undefined) return undefined;
  if (!candidates.isSorted) candidates.patterns.sort((a, b) => b.text.length - a.text.length);
  candidates.isSorted = true;
  for (const { text: pattern, mark } of candidates.patterns) {
    const same = sameChars(pattern, text, start);
    budget.steps -= same;
    if (isSpent(budget)) return undefined;
    const end = start + same;
    if (same === pattern.length || text[end] === CUT_MARK) return { start, end, mark };
  }
  return undefined;
}

function sameChars(pattern: string, text: string, start: number): number {
  let i = ANCHOR_CHARS;
  while (i < pattern.length && pattern.charCodeAt(i) === text.charCodeAt(start + i)) i++;
  return i;
}

/**
 * Table place of the anchor at `start`. Two anchors in one place make the pass slower, never wrong.
 */
function placeOf(text: string, start: number, anchors: Uint8Array): number {
  let hash = SEED;
  for (let at = start; at < start + ANCHOR_CHARS; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return (hash ^ (hash >>> 15)) & (anchors.length - 1);
}

function shorten(shifts: Uint8Array, text: string): void {
  for (let i = 1; i < ANCHOR_CHARS; i++) {
    const block = blockOf(text, i);
    shifts[block] = Math.min(shifts[block] as number, ANCHOR_CHARS - 1 - i);
  }
}

/**
 * Names the characters at `last - 1` and `last`. Two pairs of one name make the pass slower, never
 * wrong.
 */
function blockOf(text: string, last: number): number {
  return ((text.charCodeAt(last - 1) << 7) ^ text.charCodeAt(last)) & ((1 << BITS) - 1);
}
