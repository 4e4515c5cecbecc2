import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import type { HostileWorld } from './hostile.ts';

const TIMED = `export default {
  name: 'Timed', version: '1', props: { every: { type: '$.interface.timer', default: { intervalSeconds: 1 } } },
  run() { this.$emit({ at: Date.now() }); },
};`;

/** The pause of a quiet neighbour on a machine that does nothing else, with some room. */
const USUAL_QUIET_MS = 1_200;
const QUIET_MS = 4_000;

/**
 * The longest time between two ticks of the neighbour while `attack` is under way. Its timer has an
 * interval of one second. Where the machine is busy its ticks are late before the attack as well:
 * the answer is as much shorter.
 */
export async function longestPauseMs(world: HostileWorld, attack: () => Promise<void>): Promise<number> {
  const { id } = await world.neighbour.deploy(TIMED);
  const ticks = () => world.sql<{ ms: number }[]>`
    select indexed_at_ms::float8 as ms from events where emitter_id = ${id} order by 1`;
  const first = await eventually(async () => (await ticks())[0], { what: 'the first tick of the neighbour' });
  await sleep(QUIET_MS);
  const fromMs = Date.now();
  await attack();
  const toMs = Date.now();
  const moments = (await ticks()).map(({ ms }) => ms);
  await world.neighbour.api('DELETE', `/sources/${id}`);
  const quietMs = longest([...moments.filter((ms) => ms >= first.ms && ms < fromMs), fromMs]);
  const pauseMs = longest([fromMs, ...moments.filter((ms) => ms > fromMs), toMs]);
  return pauseMs / Math.max(1, quietMs / USUAL_QUIET_MS);
}

function longest(moments: readonly number[]): number {
  return Math.max(...moments.slice(1).map((ms, i) => ms - (moments[i] as number)));
}
