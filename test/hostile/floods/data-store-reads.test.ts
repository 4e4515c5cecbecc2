// fairness: A dozen runs that read large values of a data store, one after the other, as fast as they can.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const RUNS = 12;
const VALUE_CHARS = 1_000_000;
const READ_MS = 3_000;
const SET = `export default { name: 'Set', version: '1', props: { store: 'data_store' },
  run() { return this.store.set('large', 'x'.repeat(${VALUE_CHARS})); } };`;
const READ = `export default { name: 'Read', version: '1', props: { store: 'data_store' }, async run() {
  const fromMs = Date.now();
  let reads = 0;
  for (; Date.now() < fromMs + ${READ_MS}; reads++) await this.store.get('large');
  this.$emit({ reads, fromMs, toMs: Date.now() });
} };`;

it('they wait for each other, and read no faster than an account may', async () => {
  const { attacker } = world;
  const { id: store } = (await attacker.api('POST', '/data_stores', { name: 'Read' })).body.data as { id: string };
  const [set, read] = [await attacker.deploy(SET, { store }), await attacker.deploy(READ, { store })];
  expect((await world.run(set.id)).error).toBeUndefined();
  await world.unharmed(async () => {
    const runs = await Promise.all(
      Array.from({ length: RUNS }, () => attacker.api('POST', `/sources/${read.id}/run`, {})),
    );
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 200));
    await world.untilIdle(40_000);
  });
  const { data } = (await attacker.api('GET', `/sources/${read.id}/event_summaries?limit=100&expand=event`)).body as {
    data: { event: { reads: number; fromMs: number; toMs: number } }[];
  };
  expect(data).toHaveLength(RUNS);
  const ran = data.map(({ event }) => event);
  const ms = Math.max(...ran.map(({ toMs }) => toMs)) - Math.min(...ran.map(({ fromMs }) => fromMs));
  const reads = ran.reduce((sum, run) => sum + run.reads, 0);
  expect(reads).toBeGreaterThan(0);
  // Each turn pauses after its read, so the first reads have no pause before them.
  const pauseMs = ((VALUE_CHARS - LIMITS.smallDataStoreValueChars) / LIMITS.dataStoreCharsPerSecond) * 1_000;
  expect(reads).toBeLessThanOrEqual(LIMITS.maxDataStoreCallsPerTenant * (ms / pauseMs + 1));
});
