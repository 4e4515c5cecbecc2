import { newId } from '@headwater/shared';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { type RecoveryContext, startChangeRecovery } from '../../../engine/src/sources/recover-changes.ts';
import type { ChangeLease } from '../../../engine/src/db/change-lease.ts';
import { markHooksBegun } from '../../../engine/src/sources/change-source.sql.ts';
import { claimAbandonedSource, leaveToRecovery } from '../../../engine/src/sources/claim-abandoned-source.sql.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount, insertSource, leaseSource } from '../../support/source-rows.ts';

/*
 * A hook's commit and the lease of its change: output of a node whose lease has expired is not
 * stored.
 */

let database: TestDatabase;
let sql: Sql;
let accountId: string;
let lease: ChangeLease;
const NODE = 'node_a';

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
  accountId = await insertAccount(sql);
  await sql`insert into nodes (id, role) values (${NODE}, 'all')`;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`update sources set busy_until = null`;
  lease = await leased();
});

const leased = async () => leaseSource(sql, accountId, await insertSource(sql, accountId));

const options = { nodeId: NODE, deliveryCapacity: () => 1_000, runCapacity: () => 1_000, nowMs: Date.now };
const commit = async (runs: readonly RunCommit[], on = sql) =>
  (await commitRuns(on, runs, options)).map(({ committed }) => committed);

/** A hook that stores the service's registration id, and emits it. */
function hookOf(change: ChangeLease, hookId: string): RunCommit {
  const { sourceId } = change;
  const emits = [{ data: JSON.stringify({ hookId }), id: hookId, emittedAtMs: 1 }];
  const record = { id: newId('invocation'), kind: 'hook:activate', logs: '[]', startedAtMs: 1, endedAtMs: 2 };
  const dbWrites = new Map([['hookId', hookId]]);
  return { accountId, sourceId, change, final: true, dedupe: undefined, emits, dbWrites, record };
}

/** A run of another source, which no hook has to do with. */
async function runOf(value: string): Promise<RunCommit & { invocation: { id: string } }> {
  const [id, sourceId] = [newId('invocation'), await insertSource(sql, accountId)];
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${id}, ${accountId}, ${sourceId}, 'http', '{}', ${NODE})`;
  const invocation = { id, leasedBy: NODE, claim: 1 };
  const dbWrites = new Map([['hookId', value]]);
  return { accountId, sourceId, invocation, final: true, dedupe: undefined, emits: [], dbWrites };
}

/** As recovery does, on whichever node. */
async function takeOver(change: ChangeLease): Promise<ChangeLease> {
  await sql`update sources set busy_until = now() - interval '1 second' where id = ${change.sourceId}`;
  expect((await claim('recovery'))?.id).toBe(change.sourceId);
  return { ...change, changeId: 'recovery' };
}

const claim = (changeId: string, on = sql) => claimAbandonedSource(on, { changeId, nodeId: NODE, seconds: 60 });

async function stored({ sourceId }: Pick<RunCommit, 'sourceId'>) {
  const values = await sql<{ value: string }[]>`select value from component_db where source_id = ${sourceId}`;
  const events = await sql<{ emit_id: string | null }[]>`
    select emit_id from events where emitter_id = ${sourceId} and channel = ''`;
  const [runs] = await sql<{ n: number }[]>`select count(*)::int as n from runs where source_id = ${sourceId}`;
  return { values: values.map(({ value }) => value), events: events.map((row) => row.emit_id), runs: runs?.n };
}

const nothing = { values: [], events: [], runs: 0 };
const all = (hookId: string) => ({ values: [hookId], events: [hookId], runs: 1 });

it("a hook whose change was taken over does not overwrite values of recovery's hooks", async () => {
  const recovery = await takeOver(lease);
  expect(await commit([hookOf(lease, 'late')])).toEqual([false]);
  expect(await stored(lease)).toEqual(nothing);
  expect(await commit([hookOf(recovery, 'new')])).toEqual([true]);
  expect(await commit([hookOf(lease, 'late')])).toEqual([false]);
  expect(await stored(lease)).toEqual(all('new'));
});

it('nor one that a node of the version before has taken over, which says nothing of the change', async () => {
  await sql`update sources set busy_by = 'node_of_before' where id = ${lease.sourceId}`;
  expect(await commit([hookOf(lease, 'late')])).toEqual([false]);
  expect(await stored(lease)).toEqual(nothing);
});

it('nor one whose change was left to recovery, or that is of another account', async () => {
  expect(await commit([hookOf({ ...lease, accountId: await insertAccount(sql) }, 'late')])).toEqual([false]);
  await leaveToRecovery(sql, lease, 60);
  expect(await commit([hookOf(lease, 'late')])).toEqual([false]);
  expect(await stored(lease)).toEqual(nothing);
});

it('other runs and hooks of the same commit are stored, and one of the same source has its own deliveries', async () => {
  const listener = newId('webhook');
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    values (${listener}, ${accountId}, ${accountId}, 'http://127.0.0.1:9/', 'raw', 'sealed')`;
  await sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values (${newId('subscription')}, ${accountId}, ${lease.sourceId}, ${listener}, '')`;
  const recovery = await takeOver(lease);
  const [other, run] = [await leased(), await runOf('run')];
  const runs = [hookOf(lease, 'late'), hookOf(recovery, 'new'), run, hookOf(other, 'other')];
  const results = await commitRuns(sql, runs, options);
  const told = results.map(({ committed, events, deliveries }) => [committed, events, deliveries.length]);
  expect(told).toEqual([
    [false, 0, 0],
    [true, 1, 1],
    [true, 0, 0],
    [true, 1, 0],
  ]);
  expect([await stored(lease), await stored(other)]).toEqual([all('new'), all('other')]);
  expect((await stored(run)).values).toEqual(['run']);
});

it('recovery takes no change over while a hook of it is being committed', async () => {
  let committed: ReturnType<typeof commit> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from emitter_state where emitter_id = ${lease.sourceId} for update`;
    committed = commit([hookOf(lease, 'in time')]);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    await sql`update sources set busy_until = now() - interval '1 second' where id = ${lease.sourceId}`;
    expect(await claim('too early')).toBeUndefined();
  });
  expect(await committed).toEqual([true]);
  expect((await claim('after it'))?.id).toBe(lease.sourceId);
  expect(await stored(lease)).toEqual(all('in time'));
});

it('a commit that waits for a takeover of its change holds nothing meanwhile', async () => {
  const run = await runOf('run');
  let committed: ReturnType<typeof commit> | undefined;
  await sql`update sources set busy_until = now() - interval '1 second' where id = ${lease.sourceId}`;
  await sql.begin(async (tx) => {
    expect((await claim('recovery', tx as unknown as Sql))?.id).toBe(lease.sourceId);
    committed = commit([run, hookOf(lease, 'late')]);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    expect(await tx`select from invocations where id = ${run.invocation.id} for update nowait`).toHaveLength(1);
    const ids = [run.sourceId, lease.sourceId];
    expect(await tx`select from emitter_state where emitter_id = any(${ids}::text[]) for update nowait`).toHaveLength(
      2,
    );
  });
  expect(await committed).toEqual([true, false]);
  expect(await stored(lease)).toEqual(nothing);
});

it('a commit of a hook does not wait for other changes of its source', async () => {
  await sql.begin(async (tx) => {
    await tx`update sources set configured_props = '{"a":1}' where id = ${lease.sourceId}`;
    expect(await commit([hookOf(lease, 'in time')])).toEqual([true]);
  });
});

it('leases are one statement more for all hooks of a batch, and none without hooks', async () => {
  const statements: string[] = [];
  const counted: Sql = postgres(database.url, {
    max: 1,
    debug: (_connection, query) => void statements.push(query),
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  });
  const countOf = async (runs: readonly RunCommit[]) => {
    statements.length = 0;
    await commit(runs, counted);
    return [statements.length, statements.filter((text) => text.includes('change_id')).length];
  };
  try {
    await counted`select 1`;
    const [without, ofLeases] = await countOf([await runOf('a'), await runOf('b')]);
    const quiet = (change: ChangeLease): RunCommit => {
      const { record: _, ...hook } = hookOf(change, 'a');
      return { ...hook, emits: [] };
    };
    const hooks = [quiet(lease), quiet(await leased()), quiet(await leased())];
    expect(ofLeases).toBe(0);
    expect(await countOf([...hooks, await runOf('c')])).toEqual([Number(without) + 1, 1]);
  } finally {
    await counted.end();
  }
});

it('recovery that has lost the change itself does not record that it made the source whole', async () => {
  await markHooksBegun(sql, lease);
  const others: RunCommit[] = [];
  const context = {
    db: database.db,
    log: testLog,
    nodeId: () => NODE,
    room: { make: (_account: string, work: () => unknown) => work(), limits: async () => ({}) },
    forget: () => undefined,
    commit: async (run: RunCommit) => {
      others.push(run);
      await leaveToRecovery(sql, { ...lease, changeId: run.change?.changeId ?? '' }, 60);
      const [result] = await commitRuns(sql, [run], options);
      return result;
    },
  } as unknown as RecoveryContext;
  await sql`update sources set busy_until = now() - interval '1 second' where id = ${lease.sourceId}`;
  const stop = startChangeRecovery(context);
  await eventually(() => others.length > 0, { what: 'the record of the recovery' });
  await stop();
  expect(others.map(({ sourceId, record }) => [sourceId, record?.errorCode])).toEqual([
    [lease.sourceId, 'CHANGE_INTERRUPTED'],
  ]);
  expect(await stored(lease)).toEqual(nothing);
});

it('recovery leaves the change of a suspended account until it is resumed', async () => {
  await sql`update sources set busy_until = now() - interval '1 second' where id = ${lease.sourceId}`;
  await sql`update accounts set suspended_at = now() where id = ${accountId}`;
  expect(await claim('recovery')).toBeUndefined();
  await sql`update accounts set suspended_at = null where id = ${accountId}`;
  expect((await claim('recovery'))?.id).toBe(lease.sourceId);
});
