import { setTimeout as sleep } from 'node:timers/promises';
import type { HostileWorld } from './hostile.ts';

const TIMED = `export default {
  name: 'Timed', version: '1', props: { every: { type: '$.interface.timer', default: { intervalSeconds: 1 } } },
  run() { this.$emit({ at: Date.now() }); },
};`;

/** The longest time between two ticks of the neighbour, whose timer has an interval of one second, while `attack` is under way. */
export async function longestPauseMs(world: HostileWorld, attack: () => Promise<void>): Promise<number> {
  const { id } = await world.neighbour.deploy(TIMED);
  await sleep(2_500);
  const fromMs = Date.now();
  await attack();
  const toMs = Date.now();
  const rows = await world.sql<{ ms: number }[]>`
    select indexed_at_ms::float8 as ms from events where emitter_id = ${id} and indexed_at_ms > ${fromMs} order by 1`;
  await world.neighbour.api('DELETE', `/sources/${id}`);
  const moments = [fromMs, ...rows.map(({ ms }) => ms), toMs];
  return Math.max(...moments.slice(1).map((ms, i) => ms - (moments[i] as number)));
}
