import { hash } from 'node:crypto';
import { type DedupeStrategy, type EmittedEvent, LIMITS } from '@headwater/shared';
import { storableText } from '../../events/index.ts';

/**
 * State that a source keeps between runs to recognize known events. Stored as JSON in
 * `emitter_state.dedupe`.
 */
export type DedupeState = UniqueState | GreatestState | LastState;

interface UniqueState {
  strategy: 'unique';
  ids: string[];
}

interface GreatestState {
  strategy: 'greatest';
  id: string;
}

interface LastState {
  strategy: 'last';
  id: string;
  ts?: number;
}

export interface DedupeDecision {
  accepted: EmittedEvent[];
  /**
   * Undefined where nothing has been emitted yet; the object that was given where nothing has
   * changed.
   */
  state: DedupeState | undefined;
}

/**
 * Decides which of one run's events (in order, see orderEvents) are new. Pure: the same state and
 * events give the same decision. A state of another strategy, from before the component was
 * changed, counts as none.
 *
 * - `unique`: the last 100 ids are remembered, and the oldest is forgotten first. An event with a
 *   remembered id is not emitted.
 * - `greatest`: an event is emitted if its numeric id is larger than the largest emitted before it.
 * - `last`: events after the one with the remembered id are emitted, or all if none has it. The
 *   event with the newest `ts` is remembered; without `ts`, the last one.
 *
 * Ids are compared as text: `1` and `"1"` are the same id. `greatest` compares numbers: decimals
 * exactly, to any number of digits, and others as the nearest doubles (`1e21`, `0x10`).
 */
export function decideDedupe(
  strategy: DedupeStrategy | undefined,
  state: DedupeState | undefined,
  events: readonly EmittedEvent[],
): DedupeDecision {
  switch (strategy) {
    case undefined:
      return { accepted: [...events], state: undefined };
    case 'unique':
      return decideUnique(state?.strategy === 'unique' ? state : undefined, events);
    case 'greatest':
      return decideGreatest(state?.strategy === 'greatest' ? state : undefined, events);
    case 'last':
      return decideLast(state?.strategy === 'last' ? state : undefined, events);
  }
}

function decideUnique(known: UniqueState | undefined, events: readonly EmittedEvent[]): DedupeDecision {
  // A Set keeps insertion order: its first member is the oldest.
  const ids = new Set(known?.ids.map(shortId));
  const accepted = events.filter((event) => {
    const id = shortId(idOf(event));
    if (ids.has(id)) return false;
    ids.add(id);
    if (ids.size > LIMITS.uniqueCacheSize) ids.delete(ids.values().next().value as string);
    return true;
  });
  // Stores a state again if it is from before ids were shortened.
  const isAsBefore = accepted.length === 0 && (known?.ids.every((id) => ids.has(id)) ?? true);
  return { accepted, state: isAsBefore ? known : { strategy: 'unique', ids: [...ids] } };
}

function decideGreatest(known: GreatestState | undefined, events: readonly EmittedEvent[]): DedupeDecision {
  let greatest = known?.id;
  const accepted = events.filter((event) => {
    const id = idOf(event);
    if (greatest !== undefined && compareNumbers(id, greatest) <= 0) return false;
    greatest = id;
    return true;
  });
  if (greatest === undefined || greatest === known?.id) return { accepted, state: known };
  return { accepted, state: { strategy: 'greatest', id: greatest } };
}

function decideLast(known: LastState | undefined, events: readonly EmittedEvent[]): DedupeDecision {
  const match = known === undefined ? -1 : events.findLastIndex((event) => idOf(event) === known.id);
  const accepted = events.slice(match + 1);
  const newest = accepted.at(-1);
  if (newest === undefined) return { accepted, state: known };
  const isOlder = known?.ts !== undefined && newest.ts !== undefined && newest.ts < known.ts;
  if (isOlder) return { accepted, state: known };
  return {
    accepted,
    state: { strategy: 'last', id: idOf(newest), ...(newest.ts === undefined ? {} : { ts: newest.ts }) },
  };
}

/** JSON in Postgres takes neither NUL nor half of a surrogate pair. */
function idOf({ id }: EmittedEvent): string {
  return storableText(String(id)).toWellFormed();
}

/** As JSON. Ids in use are shorter, and stay readable to nodes of the version before. */
const MAX_KNOWN_BYTES = 256;
/** An id of at most this length stays within MAX_KNOWN_BYTES even if every character is escaped. */
const SURELY_SHORT = 40;

/**
 * The form of an id in the state of `unique`: a long id becomes its digest, and a digest stays
 * unchanged. So a hundred ids take 26 KB at most instead of 300 KB. Each commit that emits reads
 * them, in one transaction with those of others.
 */
function shortId(id: string): string {
  if (id.length <= SURELY_SHORT || Buffer.byteLength(JSON.stringify(id)) <= MAX_KNOWN_BYTES) return id;
  return hash('sha256', id, 'base64url');
}

/** Ids are often longer than a double is exact (snowflakes, Slack's `1700000000.123456`). */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [parseDecimal(a), parseDecimal(b)];
  if (left === undefined || right === undefined) return Number(a) - Number(b);
  const places = Math.max(left.places, right.places);
  const difference = scale(left, places) - scale(right, places);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

interface Decimal {
  digits: bigint;
  /** Behind the point. */
  places: number;
}

/**
 * The point belongs to the digits after it. Otherwise, without a point, the digits could be split
 * in as many ways as there are digits: a quadratic match.
 */
const DECIMAL = /^\s*([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?\s*$/;

function parseDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const digits = BigInt(whole + fraction);
  return { digits: sign === '-' ? -digits : digits, places: fraction.length };
}

function scale({ digits, places }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - places);
}
