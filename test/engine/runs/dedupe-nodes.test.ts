import type { DedupeStrategy } from '@headwater/shared';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { findDifference, type ModelEvent } from '../../support/dedupe-model.ts';
import { eventually } from '../../support/eventually.ts';
import { deploy, post, startServer, type TestServer } from '../../support/server.ts';

const RUNS = 80;

let test: TestDatabase;
let nodes: TestServer[];

beforeAll(async () => {
  test = await createTestDatabase();
  nodes = await Promise.all([startServer({ databaseUrl: test.url }), startServer({ databaseUrl: test.url })]);
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

/** A walk that overlaps with itself, as polls of a growing list do. */
const idsOf = (run: number) => Array.from({ length: 5 }, (_, i) => Math.floor(run / 4) * 2 + i);

const BATCHES: [DedupeStrategy, string, (run: number) => ModelEvent[]][] = [
  ['unique', '', (run) => idsOf(run).map((n) => ({ id: String(n) }))],
  ['greatest', '', (run) => idsOf(run).map((n) => ({ id: String(n * 10 ** 17) }))],
  ['last', ' without ts', (run) => idsOf(run).map((n) => ({ id: `item ${n}` }))],
  [
    'last',
    ' with ts',
    (run) =>
      idsOf(run)
        .map((n) => ({ id: `item ${n}`, ts: n }))
        .toReversed(),
  ],
];

it.each(BATCHES)(
  'a source on two nodes at once emits with %s%s the same as its runs one after the other',
  async (strategy, _, batchOf) => {
    const [first, second] = nodes as [TestServer, TestServer];
    const source = await deploy(
      first,
      `export default { name: 'D', version: '1', dedupe: '${strategy}', props: { http: '$.interface.http' },
        run({ body }) { for (const { id, ts } of body.events) this.$emit({ run: body.run, id }, { id, ts }); } };`,
    );
    const endpoints = [source.endpoint, second.url + new URL(source.endpoint).pathname];
    const given = new Map(Array.from({ length: RUNS }, (__, i) => [String(i), batchOf(i)]));
    const answers = await Promise.all(
      [...given].map(([run, events], i) => post(endpoints[i % 2] ?? '', { run, events })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await eventually(async () => (await test.db.sql`select from invocations`).length === 0);
    const rows = await test.db.sql<{ data: string }[]>`
      select data from events where emitter_id = ${source.id} order by indexed_at_ms, seq`;
    const stored = rows.map(({ data }) => JSON.parse(data) as { run: string; id: string });
    expect(stored.length).toBeGreaterThan(5);
    expect(findDifference(strategy, given, stored)).toBeUndefined();
  },
);

it('an id that unique has forgotten is accepted again, from each node', async () => {
  const [first, second] = nodes as [TestServer, TestServer];
  const source = await deploy(
    first,
    `export default { name: 'U', version: '1', dedupe: 'unique', props: { http: '$.interface.http' },
      run({ body }) { for (const id of body) this.$emit({ id }, { id }); } };`,
  );
  const endpoints = [source.endpoint, second.url + new URL(source.endpoint).pathname] as const;
  const emitted = async () => {
    await eventually(async () => (await test.db.sql`select from invocations`).length === 0);
    return (await test.db.sql`select from events where emitter_id = ${source.id}`).length;
  };
  const hundred = Array.from({ length: 100 }, (_, i) => i);
  await post(endpoints[0], hundred);
  expect(await emitted()).toBe(100);
  // Numbers and their text are the same ids; the next one pushes out 0 alone.
  await post(endpoints[1], [...hundred.map(String), 'new']);
  expect(await emitted()).toBe(101);
  await post(endpoints[0], ['0', 99]);
  expect(await emitted()).toBe(102);
});
