// fairness: Dozens of sources that remember a hundred of the longest ids each, then many small requests to all of them.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { post } from '../../support/server.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const SOURCES = longRun(10, 24);
const ROUNDS = longRun(5, 12);
const MAX_STATE_BYTES = 6_000;
const UNIQUE = `export default { name: 'Unique', version: '1', dedupe: 'unique', props: { http: '$.interface.http' }, run({ body }) {
  for (let n = 0; n < body.count; n++) this.$emit(n, { id: n + ' ' + '"'.repeat(500) });
} };`;

it('what each commit reads and writes of them is small, and the neighbour’s commits wait for little', async () => {
  const { attacker, sql } = world;
  const sources = await Promise.all(Array.from({ length: SOURCES }, () => attacker.deploy(UNIQUE)));
  const askAll = (count: number) => Promise.all(sources.map(({ endpoint }) => post(endpoint, { count })));
  await askAll(100);
  await world.untilIdle();
  await world.unharmed(async () => {
    for (let round = 0; round < ROUNDS; round++) {
      // One that is known, as if nothing had happened.
      const answers = await askAll(1);
      expect(answers.map(({ status }) => status)).toEqual(sources.map(() => 200));
    }
    await world.untilIdle();
  });
  const states = await sql<{ bytes: number; ids: number }[]>`
    select octet_length(dedupe::text) as bytes, jsonb_array_length(dedupe->'ids') as ids
    from emitter_state where account_id = ${attacker.id}`;
  expect(states.map(({ ids }) => ids)).toEqual(sources.map(() => 100));
  for (const { bytes } of states) expect(bytes).toBeLessThan(MAX_STATE_BYTES);
  const [events] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from events where account_id = ${attacker.id}`;
  expect(events?.count).toBe(SOURCES * 100);
});
