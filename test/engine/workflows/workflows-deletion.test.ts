import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { watchTransactions } from '../../support/watch-transactions.ts';

/** As in delete-workflow.ts. */
const CANCEL_BATCH = 1_000;

const TRIGGER = `export default { name: 'Trigger', version: '1', type: 'source', run() {} };`;

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

/** One that starts nothing by itself. */
async function flow(settings: object = {}): Promise<string> {
  const { data } = await hw.api('POST', '/workflows', {
    steps: [{ namespace: 'only', component_code: action('return 1;') }],
    settings: { throttle: { limit: 0, interval_seconds: 60 }, ...settings },
  });
  return data.id as string;
}

const count = async (rows: PromiseLike<{ count: number }[]>) => (await rows)[0]?.count ?? 0;

/** Connections to the database that wait for a lock. */
const waiting = () =>
  count(hw.sql`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

test('many deletions of a workflow: one is at the database, and one deletes it', async () => {
  const id = await flow();
  let deletions: ReturnType<Headwater['api']>[] = [];
  await hw.sql.begin(async (tx) => {
    // This lock does not block statements that only reference the row.
    await tx`select from emitters where id = ${id} for no key update`;
    deletions = Array.from({ length: 20 }, () => hw.api('DELETE', `/workflows/${id}`));
    await eventually(async () => (await waiting()) > 0);
    for (let n = 0; n < 10; n++) {
      expect((await hw.api('GET', '/sources')).status).toBe(200);
      expect(await waiting()).toBe(1);
    }
  });
  const statuses = (await Promise.all(deletions)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([204, ...Array.from({ length: 19 }, () => 404)]);
});

test('a deletion that is refused leaves the workflow its triggers', async () => {
  const [busy, other] = [await flow(), await flow()];
  const changed = await hw.api('PUT', `/workflows/${other}`, { triggers: [{ component_code: TRIGGER }] });
  expect([changed.status, changed.text]).toEqual([200, changed.text]);
  const triggersOf = async () => (await hw.api('GET', `/workflows/${other}`)).data.triggers as unknown[];
  const before = await triggersOf();
  let deletions: ReturnType<Headwater['api']>[] = [];
  await hw.sql.begin(async (tx) => {
    await tx`select from emitters where id = ${busy} for no key update`;
    deletions = Array.from({ length: LIMITS.maxDeletionsPerTenant + 1 }, () => hw.api('DELETE', `/workflows/${busy}`));
    // One is too many: then all the others are there.
    expect((await Promise.race(deletions)).status).toBe(429);
    const refused = await hw.api('DELETE', `/workflows/${other}`);
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('maxDeletionsPerTenant')]);
    expect(await triggersOf()).toEqual(before);
    const sources = (await hw.api('GET', '/sources')).data as { active: boolean }[];
    expect(sources).toEqual([expect.objectContaining({ active: true })]);
  });
  await Promise.all(deletions);
  expect((await hw.api('DELETE', `/workflows/${other}`)).status).toBe(204);
});

test('a source that a change deploys while the workflow is being deleted goes with it', async () => {
  const id = await flow();
  await eventually(async () => (await hw.sql`select from workflow_turns where workflow_id = ${id}`).length > 0);
  let deletion: ReturnType<Headwater['api']> | undefined;
  await hw.sql.begin(async (tx) => {
    // Its sources are deleted, what waits for it is being cancelled.
    await tx`select from workflow_turns where workflow_id = ${id} for update`;
    deletion = hw.api('DELETE', `/workflows/${id}`);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    const changed = await hw.api('PUT', `/workflows/${id}`, { triggers: [{ component_code: TRIGGER }] });
    expect([changed.status, changed.text]).toEqual([200, changed.text]);
    expect((await hw.api('GET', '/sources')).data).toHaveLength(1);
  });
  expect((await deletion)?.status).toBe(204);
  expect((await hw.api('GET', '/sources')).data).toEqual([]);
});

async function insertWaiting(id: string, queued: number, parked: number): Promise<string[]> {
  const parkedIds = Array.from({ length: parked }, () => newId('execution'));
  const ids = [...Array.from({ length: queued }, () => newId('execution')), ...parkedIds];
  const { sql, accountId } = hw;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place, leased_by)
    select e, ${accountId}, ${id}, 'manual', '{}', 0, nextval('invocation_places'),
      case when e = any(${parkedIds}::text[]) then 'parked' end from unnest(${ids}::text[]) e`;
  await sql`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at)
    select e, ${accountId}, ${id}, 'd_1', 'manual', 'waiting', '{}', '{}', e, now() from unnest(${parkedIds}::text[]) e`;
  await sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs, started_at, ended_at)
    select e, 0, ${accountId}, 'd_1', 'only', 'waiting', 1, '{}', '[]', now(), now() from unnest(${ids}::text[]) e`;
  await sql`
    insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at)
    select e, ${accountId}, ${id}, 'suspend', 0, 1, 't', now() + interval '1 day' from unnest(${parkedIds}::text[]) e`;
  await sql`
    select count(graphile_worker.add_job('wakeExecution', json_build_object('executionId', e), run_at => now() + interval '1 day',
      job_key => 'wake:' || e)) from unnest(${parkedIds}::text[]) e`;
  return parkedIds;
}

test('waiting executions of a deleted workflow are cancelled in short transactions, and none is left', async () => {
  const id = await flow();
  const parked = await insertWaiting(id, 2_500, 2_500);
  const deletedBy = await watchTransactions(hw.sql, 'invocations', 'delete');
  expect((await hw.api('DELETE', `/workflows/${id}`)).status).toBe(204);
  const deleted = await deletedBy.rows();
  expect(Math.max(...deleted)).toBeLessThanOrEqual(CANCEL_BATCH);
  expect(deleted.reduce((sum, n) => sum + n, 0)).toBe(5_000);
  const { sql } = hw;
  expect(await count(sql`select count(*) from invocations where source_id = ${id}`)).toBe(0);
  expect(await count(sql`select count(*) from execution_waits where workflow_id = ${id}`)).toBe(0);
  expect(await count(sql`select count(*) from graphile_worker.jobs where key like 'wake:%'`)).toBe(0);
  const statuses = await sql`
    select e.status, e.ended_at is not null as ended, s.status as step, count(*) from executions e
    join execution_steps s on s.execution_id = e.id where e.workflow_id = ${id} group by 1, 2, 3`;
  expect([...statuses]).toEqual([{ status: 'cancelled', ended: true, step: 'cancelled', count: parked.length }]);
  expect(await count(sql`select count(*) from execution_steps`)).toBe(parked.length);
});

test('a step that a node writes while the deletion waits for it goes as well', async () => {
  const id = await flow();
  const execution = newId('execution');
  const { sql, accountId } = hw;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    select ${execution}, ${accountId}, ${id}, 'manual', '{}', id from nodes limit 1`;
  let deletion: ReturnType<Headwater['api']> | undefined;
  await sql.begin(async (tx) => {
    // As a node does that has run the step.
    await tx`select from invocations where id = ${execution} for share`;
    await tx`
      insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs, started_at, ended_at)
      values (${execution}, 0, ${accountId}, 'd_1', 'only', 'done', 1, '{}', '[]', now(), now())`;
    deletion = hw.api('DELETE', `/workflows/${id}`);
    await eventually(async () => (await blockedBy(tx)).length > 0);
  });
  expect((await deletion)?.status).toBe(204);
  expect(await sql`select from execution_steps where execution_id = ${execution}`).toHaveLength(0);
});

test('runs by hand that come together for a workflow with a limit of its queue share transactions', async () => {
  const id = await flow({ queue_limit: 50 });
  const insertedBy = await watchTransactions(hw.sql, 'invocations', 'insert');
  const runs = await Promise.all(Array.from({ length: 60 }, () => hw.api('POST', `/workflows/${id}/run`)));
  expect(runs.filter(({ status }) => status === 429)).toHaveLength(10);
  const inserted = await insertedBy.rows();
  expect(inserted.reduce((sum, n) => sum + n, 0)).toBe(50);
  expect(inserted.length).toBeLessThan(25);
});
