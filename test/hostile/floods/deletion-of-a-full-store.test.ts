// fairness: A source with a timer and a hundred thousand stored values that is deleted, for as long as that takes, while runs of it end.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const CODE = `export default { name: 'Full', version: '1', props: { db: '$.service.db', http: '$.interface.http',
  timer: { type: '$.interface.timer', default: { intervalSeconds: 1 } } },
  async run({ ms = 0 }) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.db.set('key 0', ms);
  } };`;
const VALUES = longRun(40_000, 100_000);
const HELD_MS = 3_000;
/** When runs end that are under way as the deletion begins. */
const ENDS_MS = [500, 750, 1_000, 1_250, 1_500];
const SOON_MS = 2_500;

async function deployFull(): Promise<string> {
  const { id } = await world.attacker.deploy(CODE);
  await world.sql`
    insert into component_db (source_id, key, account_id, value)
    select ${id}, 'key ' || n, ${world.attacker.id}, '1' from generate_series(0, ${VALUES}::int4 - 1) as n
    on conflict do nothing`;
  return id;
}

async function valuesOf(id: string): Promise<number> {
  const [row] = await world.sql<{ count: number }[]>`
    select count(*)::int4 as count from component_db where source_id = ${id}`;
  return row?.count ?? 0;
}

it('keeps nobody’s ticks and commits waiting, and all that nobody holds is deleted', async () => {
  const { attacker, sql } = world;
  const id = await deployFull();
  await world.unharmed(async () => {
    const pauseMs = await longestPauseMs(world, async () => {
      const { deletion } = await sql.begin(async (tx) => {
        // One that takes this long.
        await tx`select from component_db where source_id = ${id} and key = 'key 1' for update`;
        for (const ms of ENDS_MS) await attacker.api('POST', `/sources/${id}/run`, { event: { ms } });
        const begun = attacker.api('DELETE', `/sources/${id}`);
        await sleep(HELD_MS);
        return { deletion: begun };
      });
      expect((await deletion).status).toBe(204);
    });
    expect(pauseMs).toBeLessThan(SOON_MS);
  });
  // Retention deletes the locked rows later.
  expect(await valuesOf(id)).toBeLessThanOrEqual(1);
});
