import type { Figures } from './figures.ts';
import type { EventRow } from './records.ts';

const LOOK_EVERY_MS = 500;

/**
 * How many ticks a timer of one second had, and how long it paused. `canTick`: an engine node and
 * Postgres were there all the time between. The second pause counts such time alone: it is what
 * finding a new owner took.
 */
export function figuresOfTicks(
  ticks: readonly (readonly EventRow[])[],
  canTick: (fromMs: number, toMs: number) => boolean,
  secondsAt: (atMs: number) => number,
): Figures {
  return ticks.map((events, i) => {
    const times = events.map(({ indexedAtMs }) => indexedAtMs);
    const pauses = times.slice(1).map((toMs, before) => ({ fromMs: times[before] ?? toMs, toMs }));
    const spanS = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
    const longest = Math.max(0, ...pauses.map(({ fromMs, toMs }) => toMs - fromMs));
    const owned = pauses.map(({ fromMs, toMs }) => ({ fromMs, ms: longestRunMs(fromMs, toMs, canTick) }));
    const most = owned.reduce((a, b) => (b.ms > a.ms ? b : a), { fromMs: 0, ms: 0 });
    const since = most.ms > 0 ? ` (after ${Math.round(secondsAt(most.fromMs))} s)` : '';
    const shown = `longest pause ${seconds(longest)}, with an engine and Postgres there ${seconds(most.ms)}${since}`;
    return [`ticks of the 1 s timer ${i + 1}`, `${events.length} in ${Math.round(spanS)} s, ${shown}`];
  });
}

/** Longest stretch of this interval in which the timer could have ticked, in ms. */
function longestRunMs(fromMs: number, toMs: number, canTick: (fromMs: number, toMs: number) => boolean): number {
  let longestMs = 0;
  let runMs = 0;
  for (let atMs = fromMs; atMs < toMs; atMs += LOOK_EVERY_MS) {
    const endMs = Math.min(toMs, atMs + LOOK_EVERY_MS);
    runMs = canTick(atMs, endMs) ? runMs + endMs - atMs : 0;
    longestMs = Math.max(longestMs, runMs);
  }
  return longestMs;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
