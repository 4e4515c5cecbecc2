/**
 * Contents of requests, from their numbers alone. The load sends them, and the judge knows from
 * them what has to come of a request.
 */

export interface Note {
  request: number;
  /** Its place among those of its request. */
  at: number;
  key: string;
  amount: number;
  channel: string;
}

export const NOTES_OF_REQUEST = 2;
const KEYS = ['a', 'b', 'c', 'd'];
const CHANNELS = ['', 'order.paid', 'order.void'];

export function notesOf(request: number): Note[] {
  return Array.from({ length: NOTES_OF_REQUEST }, (_, at) => {
    const n = request * NOTES_OF_REQUEST + at;
    const key = KEYS[(n >> 1) % KEYS.length] as string;
    return { request, at, key, amount: (n * 37) % 100, channel: CHANNELS[n % CHANNELS.length] as string };
  });
}

/** The subscription with a filter. `passesFilter` says the same in code of its own. */
export const FILTERED = { event_name: 'order.*', filter: { amount: { $gte: 50 }, key: { $in: ['a', 'b', 'c'] } } };

export const passesFilter = ({ channel, amount, key }: Note) =>
  channel.startsWith('order.') && amount >= 50 && key !== 'd';

export type NumberDedupe = 'greatest' | 'last';

/**
 * `turn` counts the requests of a source. For `greatest`: some numbers are too low, within the run
 * or beside earlier ones. For `last`: a feed of four numbers, of which two are new in each turn.
 */
export function numbersOf(dedupe: NumberDedupe, turn: number): number[] {
  if (dedupe === 'last') return [2 * turn - 1, 2 * turn, 2 * turn + 1, 2 * turn + 2];
  const first = 4 * turn - (turn % 7 === 0 ? 40 : 0);
  return [first, first + 2, first + 1];
}

/** How long each wait of an execution is: from a tenth of a second to more than a second. */
export const waitsMsOf = (request: number) => 100 + ((request * 131) % 1_200);
