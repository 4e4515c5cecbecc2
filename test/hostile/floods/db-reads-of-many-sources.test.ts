// fairness: Many sources whose runs read large values of `$.service.db` without a pause.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { type AttackOutcome, hostile } from '../../support/hostile.ts';

const world = hostile();

const SOURCES = 16;
const READ_MS = 3_000;
const READ = `export default { name: 'Read', version: '1', props: { db: '$.service.db' }, run({ sets }) {
  if (sets) return this.db.set('large', 'x'.repeat(60_000));
  let reads = 0;
  for (const endsAtMs = Date.now() + ${READ_MS}; Date.now() < endsAtMs; reads++) this.db.get('large');
  this.$emit(reads);
} };`;

it('a few of them wait at the database, the others for their turn, and the neighbour is served meanwhile', async () => {
  const { attacker, neighbour, sql } = world;
  const sources = await Promise.all(Array.from({ length: SOURCES }, () => attacker.deploy(READ)));
  const setting = await Promise.all(sources.map(({ id }) => world.run(id, { sets: true })));
  expect(setting.flatMap(({ error }) => error ?? [])).toEqual([]);
  const ends = await world.unharmed(async () => {
    let reading: Promise<AttackOutcome[]> = Promise.resolve([]);
    await sql.begin(async (tx) => {
      // As a database that is slow for a moment.
      await tx`lock table component_db in access exclusive mode`;
      reading = Promise.all(sources.map(({ id }) => world.run(id, {}, 60_000)));
      const blocked = async () => (await blockedBy(tx)).length;
      await eventually(async () => (await blocked()) >= LIMITS.maxDbReadsPerTenant, { timeoutMs: 20_000 });
      for (let n = 0; n < 10; n++) {
        expect((await neighbour.api('GET', '/sources')).status).toBe(200);
        expect(await blocked()).toBe(LIMITS.maxDbReadsPerTenant);
      }
    });
    return reading;
  });
  expect(ends.flatMap(({ error }) => error ?? [])).toEqual([]);
  for (const { events } of ends) expect(events).toEqual([expect.any(Number)]);
});
