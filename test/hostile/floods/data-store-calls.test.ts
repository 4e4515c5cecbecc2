// fairness: Dozens of runs that write to data stores as fast as they can, for as long as they can.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const WRITER = `export default { name: 'Writer', version: '1', props: { store: 'data_store' },
  async run({ n }) {
    const value = 'x'.repeat(50_000);
    const calls = Array.from({ length: 100 }, (_, i) => this.store.set(n + ':' + i, value).catch((error) => error.limit?.name ?? error.message));
    this.$emit([...new Set(await Promise.all(calls))]);
  } };`;

it('they wait for each other, end at the size of the store, and the neighbour’s runs have the database as before', async () => {
  const { attacker } = world;
  await world.limit({ maxDataStoreBytes: 5_000_000 });
  const store = (await attacker.api('POST', '/data_stores', { name: 'Full' })).body.data.id as string;
  const { id } = await attacker.deploy(WRITER, { store });
  await world.unharmed(async () => {
    await Promise.all(
      Array.from({ length: longRun(4, 12) }, (_, n) => attacker.api('POST', `/sources/${id}/run`, { event: { n } })),
    );
    await world.untilIdle(60_000);
  });
  const { data } = (await attacker.api('GET', `/data_stores/${store}`)).body;
  expect(data.bytes).toBeLessThanOrEqual(5_000_000);
  expect(data.record_count).toBe(Math.floor(5_000_000 / (data.bytes / data.record_count)));
  const events = (await attacker.api('GET', `/sources/${id}/event_summaries?limit=100`)).body.data as {
    event: string[];
  }[];
  expect(events.flatMap(({ event }) => event)).toContain('maxDataStoreBytes');
});
