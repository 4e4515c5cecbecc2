import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { HeldInvocation } from '../../../engine/src/events/invocation.ts';
import { insertInTurn } from '../../../engine/src/workflows/controls/insert-in-turn.sql.ts';
import { registerNode } from '../../../engine/src/cluster/nodes.sql.ts';
import { createTurns, type Turns } from '../../../engine/src/workflows/controls/turns.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { insertTurnWorkflow } from '../../support/turn-rows.ts';

let test: TestDatabase;
let nodeId: string;
let turns: Turns;
let started: HeldInvocation[];
let capacity: number;

beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  nodeId = newId('node');
  await registerNode(test.db.sql, { id: nodeId, role: 'all' });
  started = [];
  capacity = 1_000;
  turns = createTurns({
    sql: test.db.sql,
    nodeId: () => nodeId,
    dispatcher: () => ({ capacity: () => capacity, take: (held) => void started.push(...held) }),
    clients: { take: () => undefined },
    isSuspended: () => false,
    log: testLog,
  });
});
afterAll(() => test.drop());

interface Flow {
  accountId: string;
  workflowId: string;
}

/** Workflows that run one at a time, each with one execution that waits. */
async function flows(accountId: string, count: number): Promise<Flow[]> {
  const made = [];
  for (let i = 0; i < count; i++) {
    const workflowId = await insertTurnWorkflow(test.db.sql, accountId, { concurrency: 1 });
    made.push({ accountId, workflowId });
    await queue({ accountId, workflowId });
  }
  return made;
}

const queue = ({ accountId, workflowId: sourceId }: Flow) =>
  insertInTurn(test.db.sql, [{ id: newId('execution'), accountId, sourceId, kind: 'http', event: '{}' }], {
    startsNext: true,
  });

const startedOf = (workflows: readonly Flow[]) => {
  const ids = new Set(workflows.map(({ workflowId }) => workflowId));
  return started.filter(({ sourceId }) => ids.has(sourceId)).length;
};

/** While `work` is done, claims of these workflows wait for the database. */
async function whileLocked(workflows: readonly Flow[], work: () => Promise<void>): Promise<void> {
  const ids = workflows.map(({ workflowId }) => workflowId);
  const connection = await test.db.sql.reserve();
  try {
    await connection`insert into workflow_turns (workflow_id) select unnest(${ids}::text[]) on conflict do nothing`;
    await connection`begin`;
    await connection`select from workflow_turns where workflow_id = any(${ids}::text[]) for update`;
    await work();
  } finally {
    await connection`rollback`;
    connection.release();
  }
}

const jobs = async ({ workflowId }: Flow) => {
  const rows = await test.db.sql<{ key: string; in_ms: number }[]>`
    select key, extract(epoch from run_at - now())::float8 * 1000 as in_ms from graphile_worker.jobs
    where key in (${`run:${workflowId}`}, ${`turn:${workflowId}:later`})`;
  return new Map(rows.map(({ key, in_ms: ms }) => [key.replace(workflowId, '*'), ms]));
};

it('a job whose claim has to wait for others of its tenant is done, and the claim follows in its turn', async () => {
  const [accountId, other] = [await insertAccount(test.db.sql), await insertAccount(test.db.sql)];
  const all = await flows(accountId, 30);
  const others = await flows(other, 1);
  const [slow, waiting] = [all.slice(0, 2), all.slice(2)];
  const claims: Promise<void>[] = [];
  await whileLocked(slow, async () => {
    claims.push(...slow.map((workflow) => turns.runLane(workflow)));
    await Promise.all([...waiting, ...waiting].map((workflow) => turns.runLane(workflow)));
    await Promise.all(others.map((workflow) => turns.runLane(workflow)));
    expect([startedOf(all), startedOf(others)]).toEqual([0, 1]);
  });
  await Promise.all(claims);
  await eventually(() => started.length === 31);
  await turns.settled();
  expect(startedOf(all)).toBe(30);
});

it('lanes that wait when the node stops are queued again, unclaimed', async () => {
  const all = await flows(await insertAccount(test.db.sql), 30);
  const [slow, waiting] = [all.slice(0, 2), all.slice(2)];
  const claims: Promise<void>[] = [];
  const jobsOf = async () => (await Promise.all(waiting.map(jobs))).filter((found) => found.has('run:*')).length;
  let settled: Promise<void> | undefined;
  await whileLocked(slow, async () => {
    claims.push(...slow.map((workflow) => turns.runLane(workflow)));
    await Promise.all(waiting.map((workflow) => turns.runLane(workflow)));
    await test.db.sql`select graphile_worker.remove_job(key) from graphile_worker.jobs where key like 'run:%'`;
    settled = turns.settled();
  });
  await Promise.all([...claims, settled]);
  expect([startedOf(slow), startedOf(waiting), await jobsOf()]).toEqual([2, 0, 28]);
  // A later request finds its lane unchanged.
  turns.next(waiting[0] as Flow);
  await eventually(() => startedOf(waiting) === 1);
});

it('a request for a claim during a claim is served by the next one', async () => {
  const [flow] = (await flows(await insertAccount(test.db.sql), 1)) as [Flow];
  let claim: Promise<void> | undefined;
  await whileLocked([flow], async () => {
    claim = turns.runLane(flow);
    await turns.runLane(flow);
    turns.next(flow);
  });
  await claim;
  await eventually(() => startedOf([flow]) === 1);
  await turns.settled();
  expect(startedOf([flow])).toBe(1);
  await queue(flow);
  await test.db.sql`delete from invocations where id = ${started[0]?.id ?? ''}`;
  turns.next(flow);
  await eventually(() => startedOf([flow]) === 2);
});

it('executions held back by their settings get a job again, though their claim has waited', async () => {
  const accountId = await insertAccount(test.db.sql);
  const [flow, ...slow] = (await flows(accountId, 3)) as [Flow, ...Flow[]];
  await turns.runLane(flow);
  await queue(flow);
  await test.db.sql`select graphile_worker.remove_job(${`turn:${flow.workflowId}:later`})`;
  const claims: Promise<void>[] = [];
  await whileLocked(slow, async () => {
    claims.push(...slow.map((workflow) => turns.runLane(workflow)));
    await turns.runLane(flow);
  });
  await Promise.all(claims);
  await eventually(async () => (await jobs(flow)).has('turn:*:later'));
  expect((await jobs(flow)).get('turn:*:later')).toBeGreaterThan(8_000);
});

it('a lane that comes to a node which was declared dead comes again', async () => {
  const accountId = await insertAccount(test.db.sql);
  const [flow] = (await flows(accountId, 1)) as [Flow];
  await test.db.sql`select graphile_worker.remove_job(${`turn:${flow.workflowId}:later`})`;
  nodeId = 'node_declared_dead';
  await turns.runLane(flow);
  expect(startedOf([flow])).toBe(0);
  expect((await jobs(flow)).has('turn:*:later')).toBe(true);
});

it('without room each lane of a tenant comes round later than the one before', async () => {
  const all = await flows(await insertAccount(test.db.sql), 20);
  capacity = 0;
  for (const workflow of all) await turns.runLane(workflow);
  await eventually(async () => (await Promise.all(all.map(jobs))).every((found) => found.has('run:*')));
  const times = await Promise.all(all.map(async (workflow) => (await jobs(workflow)).get('run:*') ?? 0));
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(300);
  expect(started).toEqual([]);
});

it('a claim of a job that fails is the job’s to repeat', async () => {
  const [flow] = (await flows(await insertAccount(test.db.sql), 1)) as [Flow];
  const known = nodeId;
  nodeId = 'x\0y';
  await expect(turns.runLane(flow)).rejects.toThrow('invalid byte sequence');
  nodeId = known;
  await turns.runLane(flow);
  expect(startedOf([flow])).toBe(1);
});
