import type { DedupeStrategy } from '@headwater/shared';

/** One event as a run emitted it. */
export interface ModelEvent {
  id: string;
  ts?: number;
}

interface ModelState {
  /** Ids that `unique` remembers, oldest first. */
  ids: string[];
  /** State of `greatest` and `last`. */
  id?: string;
  ts?: number;
}

/** Expected emits of one run: the rules of the specification, written as plainly as possible. */
function step(strategy: DedupeStrategy, state: ModelState, given: readonly ModelEvent[]): [ModelEvent[], ModelState] {
  const events = given.every(({ ts }) => ts !== undefined)
    ? given.toSorted((a, b) => (a.ts ?? 0) - (b.ts ?? 0))
    : [...given];
  const next = { ...state, ids: [...state.ids] };
  if (strategy === 'last') {
    const at = events.map(({ id }) => id).lastIndexOf(state.id ?? '');
    const after = events.slice(at + 1);
    const newest = after.at(-1);
    if (newest === undefined) return [after, state];
    const isOlder = state.ts !== undefined && newest.ts !== undefined && newest.ts < state.ts;
    return [after, isOlder ? state : { ids: [], ...newest }];
  }
  const accepted = events.filter(({ id }) => {
    if (strategy === 'unique') {
      if (next.ids.includes(id)) return false;
      next.ids.push(id);
      if (next.ids.length > 100) next.ids.shift();
      return true;
    }
    if (next.id !== undefined && BigInt(id) <= BigInt(next.id)) return false;
    next.id = id;
    return true;
  });
  return [accepted, next];
}

/**
 * Whether the stored events are those of the runs in some sequential order. The order is that of
 * the stored events; runs without events fit anywhere. Returns the difference.
 */
export function findDifference(
  strategy: DedupeStrategy,
  runs: ReadonlyMap<string, readonly ModelEvent[]>,
  stored: readonly { run: string; id: string }[],
): string | undefined {
  const order = [...new Set(stored.map(({ run }) => run))];
  let state: ModelState = { ids: [] };
  const states = [state];
  const expected = order.flatMap((run) => {
    const [accepted, next] = step(strategy, state, runs.get(run) ?? []);
    states.push((state = next));
    return accepted.map(({ id }) => `${run} ${id}`);
  });
  const actual = stored.map(({ run, id }) => `${run} ${id}`);
  if (actual.join() !== expected.join())
    return `stored: ${actual.join(', ')}\none after the other: ${expected.join(', ')}`;
  const silent = [...runs.keys()].filter((run) => !order.includes(run));
  const wrong = silent.find((run) => !states.some((at) => step(strategy, at, runs.get(run) ?? [])[0].length === 0));
  return wrong && `${wrong} emitted nothing, and would have at any place`;
}
