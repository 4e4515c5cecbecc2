import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claimExecutions } from '../../../engine/src/workflows/controls/claim-executions.sql.ts';
import { insertInTurn } from '../../../engine/src/workflows/controls/insert-in-turn.sql.ts';
import { insertInvocationRows } from '../../../engine/src/runs/invocations.sql.ts';
import { registerNode, releaseNode } from '../../../engine/src/cluster/nodes.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { deploySettings, insertTurnWorkflow, type TurnSettings } from '../../support/turn-rows.ts';

let test: TestDatabase;
let accountId: string;
let nodes: [string, string];

beforeAll(async () => {
  test = await createTestDatabase();
  accountId = await insertAccount(test.db.sql);
});
beforeEach(async () => {
  nodes = [newId('node'), newId('node')];
  for (const id of nodes) await registerNode(test.db.sql, { id, role: 'all' });
});
afterAll(() => test.drop());

const workflow = (settings: TurnSettings) => insertTurnWorkflow(test.db.sql, accountId, settings);

async function queue(
  workflowId: string,
  count: number,
  more: { queueLimit?: number; wantedBy?: string; event?: string } = {},
) {
  const rows = Array.from({ length: count }, () => ({
    id: newId('execution'),
    accountId,
    sourceId: workflowId,
    kind: 'http' as const,
    event: '{}',
    ...more,
  }));
  const hasRoom = await insertInTurn(test.db.sql, rows, { startsNext: true });
  return rows.filter((_, i) => hasRoom[i]).map(({ id }) => id);
}

async function claim(workflowId: string, nodeId = nodes[0], limit = 64): Promise<string[]> {
  const { held } = await claimExecutions(test.db.sql, { workflowId, nodeId, limit });
  return held.map(({ id }) => id);
}

const end = (id: string | undefined) => test.db.sql`delete from invocations where id = ${id ?? ''}`;

async function park(id: string | undefined, workflowId: string, kind: string): Promise<void> {
  await test.db.sql`update invocations set leased_by = 'parked', attempts = 1 where id = ${id ?? ''}`;
  await test.db.sql`
    insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at)
    values (${id ?? ''}, ${accountId}, ${workflowId}, ${kind}, 0, 1, 't', now() + interval '1 hour')`;
}

async function wake(id: string | undefined): Promise<void> {
  await test.db.sql`delete from execution_waits where execution_id = ${id ?? ''}`;
  await test.db.sql`update invocations set leased_by = null where id = ${id ?? ''}`;
}

const jobs = (workflowId: string) => test.db.sql<{ key: string; in_ms: number }[]>`
  select key, extract(epoch from run_at - now())::float8 * 1000 as in_ms from graphile_worker.jobs
  where key like ${`turn:${workflowId}:%`} order by key`;

describe('concurrency', () => {
  it('with limit 1 starts one at a time in the order of acceptance, from each node', async () => {
    const id = await workflow({ concurrency: 1 });
    const queued = [...(await queue(id, 20)), ...(await queue(id, 1)), ...(await queue(id, 20))];
    const started: string[] = [];
    for (let i = 0; i < queued.length; i++) {
      const now = (await Promise.all([claim(id, nodes[0]), claim(id, nodes[1]), claim(id, nodes[0])])).flat();
      expect(now).toHaveLength(1);
      expect(await claim(id, nodes[1])).toEqual([]);
      started.push(...now);
      await end(now[0]);
    }
    expect(started).toEqual(queued);
  });

  it('starts no more at once than are small together, and says that more may start', async () => {
    const id = await workflow({ concurrency: 4 });
    const event = JSON.stringify('x'.repeat(0.6 * LIMITS.maxClaimBytes));
    const queued = await queue(id, 5, { event });
    const claims = [];
    for (let turn = 0; turn < 3; turn++) {
      const { held, cut, blocked } = await claimExecutions(test.db.sql, {
        workflowId: id,
        nodeId: nodes[0],
        limit: 64,
      });
      claims.push([held.map((one) => one.id), cut, blocked]);
    }
    expect(claims).toEqual([
      [queued.slice(0, 2), true, true],
      [queued.slice(2, 4), false, true],
      [[], false, true],
    ]);
  });

  it('with limit 3 never exceeds 3 on all nodes together', async () => {
    const id = await workflow({ concurrency: 3 });
    const queued = await queue(id, 10);
    const first = [...(await claim(id, nodes[0], 2)), ...(await claim(id, nodes[1]))];
    expect(first).toEqual(queued.slice(0, 3));
    expect(await claim(id)).toEqual([]);
    await end(first[1]);
    expect(await claim(id, nodes[1])).toEqual(queued.slice(3, 4));
  });

  it('with a lowered limit lets running executions end first', async () => {
    const id = await workflow({ concurrency: 3 });
    const queued = await queue(id, 4);
    const running = await claim(id);
    await deploySettings(test.db.sql, accountId, id, { concurrency: 1 });
    for (const execution of running) {
      expect(await claim(id)).toEqual([]);
      await end(execution);
    }
    expect(await claim(id)).toEqual(queued.slice(3));
  });

  it('with limit 1 lets others go on while an execution is delayed, but not while it waits for a retry', async () => {
    const id = await workflow({ concurrency: 1 });
    const [first, second, third] = await queue(id, 3);
    await claim(id);
    await park(first, id, 'delay');
    expect(await claim(id)).toEqual([second]);
    await park(second, id, 'retry');
    expect(await claim(id)).toEqual([]);
    await wake(second);
    expect(await claim(id)).toEqual([second]);
    await end(second);
    await wake(first);
    expect(await claim(id)).toEqual([first]);
    await end(first);
    expect(await claim(id)).toEqual([third]);
  });

  it('with limit 2 lets others go on while an execution waits for a retry', async () => {
    const id = await workflow({ concurrency: 2 });
    const [first, second, third] = await queue(id, 3);
    expect(await claim(id)).toEqual([first, second]);
    await park(first, id, 'retry');
    expect(await claim(id)).toEqual([third]);
  });

  it('keeps the order over the death of a node', async () => {
    const id = await workflow({ concurrency: 1 });
    const [first, second] = await queue(id, 2);
    expect(await claim(id, nodes[0])).toEqual([first]);
    await releaseNode(test.db.sql, nodes[0]);
    expect(await claim(id, nodes[1])).toEqual([first]);
    await end(first);
    expect(await claim(id, nodes[1])).toEqual([second]);
  });
});

it('holds for two claims at the same moment, since one sees the executions that the other took', async () => {
  const { sql } = test.db;
  const id = await workflow({ concurrency: 1 });
  const [inserting, locking] = [await sql.reserve(), await sql.reserve()];
  const waiting = async (count: number) =>
    (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).length ===
    count;
  expect(await claim(id)).toEqual([]);
  // Accepted first, but not there yet when the first claim looks.
  await inserting`begin`;
  const early = { id: newId('execution'), accountId, sourceId: id, kind: 'http' as const, event: '{}' };
  await insertInvocationRows(inserting, [early]);
  const [late = ''] = await queue(id, 1);
  await locking`begin`;
  await locking`select from invocations where id = ${late} for update`;
  const first = claim(id, nodes[0]);
  await eventually(() => waiting(1));
  await inserting`commit`;
  const second = claim(id, nodes[1]);
  await Promise.race([second, eventually(() => waiting(2))]);
  await locking`commit`;
  expect([await first, await second]).toEqual([[late], []]);
  for (const connection of [inserting, locking]) connection.release();
});

describe('a throttle', () => {
  it('starts so many in a window and leaves a job for its end', async () => {
    const id = await workflow({ throttle: { limit: 3, intervalSeconds: 60 } });
    const queued = await queue(id, 5);
    expect(await claim(id, nodes[0], 2)).toEqual(queued.slice(0, 2));
    expect(await claim(id, nodes[1])).toEqual(queued.slice(2, 3));
    expect(await claim(id, nodes[0])).toEqual([]);
    const [, window] = await jobs(id);
    expect(window?.key).toBe(`turn:${id}:window`);
    expect(window?.in_ms).toBeGreaterThan(50_000);
    expect(window?.in_ms).toBeLessThan(60_001);
    await test.db.sql`update workflow_turns set window_started_at = now() - interval '61 s' where workflow_id = ${id}`;
    expect(await claim(id, nodes[1])).toEqual(queued.slice(3));
  });

  it('with limit 0 starts nothing and keeps all executions until the limit is raised', async () => {
    const id = await workflow({ throttle: { limit: 0, intervalSeconds: 60 } });
    const queued = await queue(id, 5);
    expect(await claim(id)).toEqual([]);
    expect((await jobs(id)).map(({ key }) => key)).toEqual([`turn:${id}:later`]);
    await deploySettings(test.db.sql, accountId, id, { throttle: { limit: 10, intervalSeconds: 60 } });
    expect(await claim(id)).toEqual(queued);
  });

  it('does not hold executions that began before', async () => {
    const id = await workflow({ throttle: { limit: 1, intervalSeconds: 60 } });
    const [first, second] = await queue(id, 2);
    expect(await claim(id)).toEqual([first]);
    await park(first, id, 'delay');
    await wake(first);
    expect(await claim(id)).toEqual([first]);
    await deploySettings(test.db.sql, accountId, id, { throttle: { limit: 0, intervalSeconds: 60 } });
    await releaseNode(test.db.sql, nodes[0]);
    expect(await claim(id, nodes[1])).toEqual([first]);
    await deploySettings(test.db.sql, accountId, id, { throttle: { limit: 2, intervalSeconds: 60 } });
    expect(await claim(id, nodes[1])).toEqual([second]);
  });
});

it('a stopped workflow starts nothing and keeps everything', async () => {
  const id = await workflow({ concurrency: 5 });
  const queued = await queue(id, 3);
  await test.db.sql`update emitters set active = false where id = ${id}`;
  expect(await claim(id)).toEqual([]);
  await test.db.sql`update emitters set active = true where id = ${id}`;
  expect(await claim(id)).toEqual(queued);
});

it('a node that is not registered starts nothing', async () => {
  const id = await workflow({ concurrency: 5 });
  await queue(id, 1);
  expect(await claim(id, 'node_gone')).toEqual([]);
});

it('an execution with a client on another node is left to that node, unless it is gone, and nothing overtakes it', async () => {
  const id = await workflow({ concurrency: 5 });
  const [plain] = await queue(id, 1);
  const [wanted] = await queue(id, 1, { wantedBy: nodes[1] });
  const [last] = await queue(id, 1);
  const heard: string[] = [];
  const { unlisten } = await test.db.sql.listen('headwater_turn', (payload) => heard.push(payload));
  expect(await claim(id, nodes[0])).toEqual([plain]);
  await eventually(() => heard.length > 0);
  expect(heard).toEqual([`${nodes[1]} ${accountId} ${id}`]);
  await unlisten();
  expect(await claim(id, nodes[1], 1)).toEqual([wanted]);
  await test.db.sql`update invocations set leased_by = null where id = ${wanted ?? ''}`;
  await releaseNode(test.db.sql, nodes[1]);
  expect(await claim(id, nodes[0])).toEqual([wanted, last]);
});

it('the queue holds as many as its limit, and running or parked executions do not count', async () => {
  const id = await workflow({ concurrency: 1, queueLimit: 3 });
  expect(await queue(id, 5, { queueLimit: 3 })).toHaveLength(3);
  expect(await queue(id, 1, { queueLimit: 3 })).toHaveLength(0);
  const [first] = await claim(id);
  expect(await queue(id, 2, { queueLimit: 3 })).toHaveLength(1);
  await park(first, id, 'delay');
  expect(await queue(id, 2, { queueLimit: 3 })).toHaveLength(0);
});

it('a claim does not read the whole queue', async () => {
  const throttled = { throttle: { limit: 0, intervalSeconds: 60 } };
  const [short, long] = [await workflow(throttled), await workflow(throttled)];
  await queue(short, 5);
  for (let i = 0; i < 4; i++) await queue(long, 5_000);
  await test.db.sql`analyze invocations`;
  const quickestMs = { short: Infinity, long: Infinity };
  for (let i = 0; i < 20; i++) {
    for (const [name, id] of Object.entries({ short, long })) {
      const beganMs = performance.now();
      expect(await claim(id)).toEqual([]);
      const queueOf = name as keyof typeof quickestMs;
      quickestMs[queueOf] = Math.min(quickestMs[queueOf], performance.now() - beganMs);
    }
  }
  expect(quickestMs.long).toBeLessThan(10 * quickestMs.short + 5);
});
