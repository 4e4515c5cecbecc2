import { LIMITS, newId } from '@headwater/shared';
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { wasHeldUp } from '../../../engine/src/db/fails-each-time.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { ADMIN_KEY, deploy, post, startServer, type TestServer } from '../../support/server.ts';

/*
 * Runs of several tenants end on one node, while another node's commit holds the state of a source
 * of one of them.
 */

let test: TestDatabase;
let nodes: [TestServer, TestServer];
let neighbourKey: string;

beforeAll(async () => {
  test = await createTestDatabase();
  nodes = await Promise.all([startServer({ databaseUrl: test.url }), startServer({ databaseUrl: test.url })]);
  const made = await nodes[0].api('POST', '/accounts', { name: 'neighbour' }, ADMIN_KEY);
  neighbourKey = made.body.data.api_key as string;
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

const EMITS = `export default { name: 'Emits', version: '1', props: { http: '$.interface.http' },
  run({ body }) { this.$emit(body); } };`;

/** As asked through the second node. */
const through = (endpoint: string) => nodes[1].url + new URL(endpoint).pathname;

async function stored(sourceId: string): Promise<number[]> {
  const rows = await test.db.sql<{ data: string }[]>`
    select data from events where emitter_id = ${sourceId} order by indexed_at_ms, seq`;
  return rows.map(({ data }) => (JSON.parse(data) as { n: number }).n);
}

/** As a commit of the first node does, between two slices of a wide fan-out. */
async function whileHeld<T>(sourceId: string, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  return test.db.sql.begin(async (tx) => {
    await tx`select from emitter_state where emitter_id = ${sourceId} for update`;
    return work(tx);
  }) as Promise<T>;
}

it('delays no neighbour, and its locked rows are committed once, when it is over', async () => {
  const [first] = nodes;
  const [heldUp, neighbour] = await Promise.all([deploy(first, EMITS), deploy(first, EMITS, { key: neighbourKey })]);
  for (const { endpoint } of [heldUp, neighbour]) expect((await post(through(endpoint), { n: -1 })).status).toBe(200);
  await eventually(async () => (await stored(heldUp.id)).length + (await stored(neighbour.id)).length === 2);
  const tookMs = await whileHeld(heldUp.id, async (tx) => {
    for (let n = 0; n < 5; n++) {
      expect((await post(through(heldUp.endpoint), { n })).status).toBe(200);
      await eventually(async () => (await blockedBy(tx)).length > 0);
    }
    const begunMs = performance.now();
    for (let n = 0; n < 5; n++) expect((await post(through(neighbour.endpoint), { n })).status).toBe(200);
    await eventually(async () => (await stored(neighbour.id)).length === 6, { what: 'the events of the neighbour' });
    expect(await stored(heldUp.id)).toEqual([-1]);
    return performance.now() - begunMs;
  });
  expect(tookMs).toBeLessThan(LIMITS.databaseSilenceMs);
  await eventually(async () => (await test.db.sql`select from invocations`).length === 0);
  expect((await stored(heldUp.id)).toSorted((a, b) => a - b)).toEqual([-1, 0, 1, 2, 3, 4]);
  expect((await stored(neighbour.id)).toSorted((a, b) => a - b)).toEqual([-1, 0, 1, 2, 3, 4]);
});

it('a commit that was held up has written nothing, and may be made again', async () => {
  const source = await deploy(nodes[0], EMITS);
  const id = newId('invocation');
  const [account] = await test.db.sql<{ id: string }[]>`select account_id as id from emitters where id = ${source.id}`;
  await test.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${id}, ${account?.id ?? ''}, ${source.id}, 'http', '{}', 'node_x')`;
  const run: RunCommit = {
    accountId: account?.id ?? '',
    sourceId: source.id,
    invocation: { id, leasedBy: 'node_x', claim: 1 },
    final: true,
    dedupe: undefined,
    emits: [{ data: '{"n":7}', emittedAtMs: 1 }],
    dbWrites: new Map([['key', '7']]),
  };
  const commit = (maxLockMs?: number) =>
    commitRuns(test.db.sql, [run], {
      nodeId: 'node_x',
      deliveryCapacity: () => 9,
      runCapacity: () => 9,
      maxLockMs,
      nowMs: Date.now,
    });
  const error = await whileHeld(source.id, () => commit(30).catch((reason: unknown) => reason));
  expect(wasHeldUp(error)).toBe(true);
  expect(await test.db.sql`select from invocations where id = ${id} and leased_by = 'node_x'`).toHaveLength(1);
  expect(await stored(source.id)).toEqual([]);
  expect(await commit()).toMatchObject([{ committed: true, events: 1 }]);
  expect(await commit(30)).toMatchObject([{ committed: false }]);
  expect(await stored(source.id)).toEqual([7]);
});

it('ends of runs that left nothing wait for no row that another transaction holds of a neighbour', async () => {
  const [first] = nodes;
  const quiet = (ms: number) => `export default { name: 'Quiet', version: '1', props: { http: '$.interface.http' },
    async run() { await new Promise((done) => setTimeout(done, ${ms})); } };`;
  const [slow, neighbour] = await Promise.all([
    deploy(first, quiet(500)),
    deploy(first, quiet(0), { key: neighbourKey }),
  ]);
  const open = ({ id }: { id: string }) => test.db.sql<{ id: string }[]>`
    select id from invocations where source_id = ${id}`;
  expect((await post(through(slow.endpoint), {})).status).toBe(200);
  await test.db.sql.begin(async (tx) => {
    const held = await tx`select from invocations where source_id = ${slow.id} for update`;
    expect(held).toHaveLength(1);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    for (let n = 0; n < 5; n++) expect((await post(through(neighbour.endpoint), {})).status).toBe(200);
    await eventually(async () => (await open(neighbour)).length === 0, { what: 'the ends of the runs' });
    expect(await open(slow)).toHaveLength(1);
  });
  await eventually(async () => (await open(slow)).length === 0);
});
