// fairness: Sixteen sources for which invocations wait, deleted at once: their deletions would have all connections of the node.
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, newId } from '@headwater/shared';
import { expect, it } from 'vitest';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `export default { name: 'Busy', version: '1', run() {} };`;
const SOURCES = LIMITS.sourceChangesAtOnce;
/** For longer than it takes all of them to begin. */
const REQUESTS = 20;
const EVERY_MS = 50;

/** Inactive sources, so that waiting invocations are not run. */
async function makeSources(): Promise<string[]> {
  const { attacker, sql } = world;
  const ids: string[] = [];
  for (let n = 0; n < SOURCES; n++) {
    const { id } = await attacker.deploy(CODE);
    expect((await attacker.api('PUT', `/sources/${id}`, { active: false })).status).toBe(200);
    ids.push(id);
  }
  await sql`
    insert into invocations (id, account_id, source_id, kind, event)
    select made.id, ${attacker.id}, made.source, 'http', '{}'
    from unnest(${ids.map(() => newId('invocation'))}::text[], ${ids}::text[]) as made(id, source)`;
  return ids;
}

it('follow each other, and the neighbour is served meanwhile', async () => {
  const { attacker, neighbour, sql } = world;
  await world.limit({ maxRequestsPerSecond: 0 });
  const ids = await makeSources();
  const deletions = await world.unharmed(() =>
    sql.begin(async (tx) => {
      // Simulates rows so many that each piece takes long.
      await tx`select from invocations where source_id = any(${ids}::text[]) for update`;
      const begun = ids.map((id) => attacker.api('DELETE', `/sources/${id}`));
      await eventually(async () => (await blockedBy(tx)).length > 0);
      for (let asked = 0; asked < REQUESTS; asked++) {
        expect((await neighbour.api('GET', '/sources')).status).toBe(200);
        await sleep(EVERY_MS);
        expect(await blockedBy(tx)).toHaveLength(1);
      }
      return { begun };
    }),
  );
  expect((await Promise.all(deletions.begun)).map(({ status }) => status)).toEqual(ids.map(() => 204));
  expect(await sql`select from invocations where source_id = any(${ids}::text[])`).toHaveLength(0);
});
