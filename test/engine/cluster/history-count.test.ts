import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHistoryMeter } from '../../../engine/src/cluster/retention/history-meter.ts';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let hw: Headwater;
/** Without a node, which would continue with committed rows. */
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  hw = await sharedHeadwater();
});
afterAll(async () => {
  await hw.stop();
  await database.drop();
});

const ROW = LIMITS.historyRowBytes;

/** Bytes of the account's history in Postgres. */
async function storedBytes(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(${ROW}::int4 + octet_length(texts)), 0)::int8 as bytes from (
      select concat(data, channel, emit_id, summary) as texts from events where account_id = ${accountId}
      union all select concat(logs, error_message, error_stack) from runs where account_id = ${accountId}
      union all select concat(channel, emit_ids) from missed_events where account_id = ${accountId}
      union all select attempts::text from deliveries where account_id = ${accountId}
      union all select concat(event, context, error, reason) from executions where account_id = ${accountId}
      union all select concat(value, exports, logs, sends, error) from execution_steps where account_id = ${accountId}
      union all select concat(payload, sealed, attempts::text) from sends where account_id = ${accountId}
    ) as kept`;
  return row?.bytes ?? 0;
}

test('a commit counts what it stores: long texts, other alphabets, logs, notes, and wide fan-outs', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  const listener = await insertSource(sql, accountId);
  const subscribe = (listenerId: string, channel: string) => sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values (${newId('subscription')}, ${accountId}, ${sourceId}, ${listenerId}, ${channel})`;
  for (let i = 0; i < 12; i++) {
    const id = newId('webhook');
    await sql`insert into webhooks (id, account_id, user_id, url, format, secret)
      values (${id}, ${accountId}, ${accountId}, 'http://127.0.0.1:9/', 'raw', 'sealed')`;
    await subscribe(id, i < 2 ? 'few' : 'many');
  }
  await subscribe(listener, 'few');
  const emit = (data: unknown, name: string, id: number) => ({ data: JSON.stringify(data), name, id, emittedAtMs: 1 });
  const runs: RunCommit[] = [
    [emit('ř'.repeat(300_000), 'few', 1), emit('žluťoučký kůň 🐎', 'few', 2), emit('again', 'few', 2)],
    Array.from({ length: 100 }, (_, i) => emit(i, 'many', 100 + i)),
  ].map((emits) => ({
    accountId,
    sourceId,
    final: true,
    dedupe: 'unique',
    emits,
    dbWrites: new Map(),
    record: {
      id: newId('invocation'),
      kind: 'http',
      logs: JSON.stringify([{ at: 1, level: 'info', message: 'ő'.repeat(1_000) }]),
      startedAtMs: 1,
      endedAtMs: 2,
    },
  }));
  const meter = createHistoryMeter(Date.now);
  const none = () => 0;
  await commitRuns(sql, runs, {
    nodeId: 'node_x',
    deliveryCapacity: none,
    runCapacity: none,
    history: meter,
    nowMs: Date.now,
  });
  const counted = meter.take().reduce((sum, { bytes }) => sum + bytes, 0);
  const stored = await storedBytes(sql, accountId);
  expect((await sql`select from deliveries where account_id = ${accountId}`).length).toBe(2 * 2 + 100 * 10);
  // Lists and their brackets.
  expect(Math.abs(counted - stored) / stored).toBeLessThan(0.01);
});

test('a node counts its rows within a sixth of the stored bytes, with replays and attempts, and shows them', async () => {
  const receiver = await startReceiver();
  try {
    const source = await hw.deploy(`export default { name: 'S', version: '1', props: { http: '$.interface.http' },
      run(event) { console.log('heard'); this.$emit(event.body); } };`);
    const webhook = await hw.api('POST', '/webhooks', { url: receiver.url });
    await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.data.id });
    const code = (run: string) => `export default { name: 'A', version: '1', type: 'action', run({ $ }) { ${run} } };`;
    const workflow = await hw.api('POST', '/workflows', {
      name: 'W',
      triggers: [{ type: 'http' }],
      steps: [
        { namespace: 'one', component_code: code(`$.export('x', 'y'.repeat(20_000)); return 1;`) },
        { namespace: 'two', component_code: code(`$.flow.delay(1_000);`) },
        { namespace: 'three', component_code: code(`throw new Error('always');`) },
      ],
    });
    const flow = workflow.data.triggers[0].endpoint_url;
    for (let i = 0; i < 10; i++) {
      await fetch(source.endpoint, { method: 'POST', body: JSON.stringify('z'.repeat(5_000)) });
      await fetch(flow, { method: 'POST', body: JSON.stringify('w'.repeat(5_000)) });
    }
    const executions = (status: string) => hw.sql<{ id: string }[]>`
      select id from executions where account_id = ${hw.accountId} and status = ${status}`;
    await eventually(async () => (await executions('failed')).length === 10, { timeoutMs: 20_000 });
    for (const { id } of await executions('failed')) {
      expect((await hw.api('POST', `/executions/${id}/replay`, { from: 'failed' })).status).toBe(200);
    }
    await eventually(async () => (await executions('failed')).length === 20, { timeoutMs: 20_000 });
    await eventually(() => receiver.requests.length === 10);
    await hw.untilIdle();
    const shown = async () => (await hw.api('GET', '/users/me/limits')).data.history;
    const stored = () => storedBytes(hw.sql, hw.accountId);
    await eventually(async () => (await shown()).bytes > (await stored()) * 0.97, { timeoutMs: 25_000 });
    expect((await shown()).bytes).toBeLessThan((await stored()) * 1.17);
    expect((await shown()).kept_from).toBeNull();
    const before = (await shown()).bytes;
    await hw.api('DELETE', `/sources/${source.id}/events`);
    expect(before - (await shown()).bytes).toBeGreaterThan(10 * 5_000);
  } finally {
    await receiver.stop();
  }
});

test('an execution cancelled before it began is counted, and so is the request that resumes one', async () => {
  const flowOf = async (settings: object) => {
    const run = `$.export('url', $.flow.suspend().resume_url);`;
    const component = `export default { name: 'A', version: '1', type: 'action', run({ $ }) { ${run} } };`;
    const steps = [{ namespace: 'one', component_code: component }];
    const { data } = await hw.api('POST', '/workflows', { name: 'W', triggers: [{ type: 'http' }], steps, settings });
    return { id: data.id as string, endpoint: data.triggers[0].endpoint_url as string };
  };
  const shown = async () => (await hw.api('GET', '/users/me/limits')).data.history.bytes as number;
  const post = (url: string) => fetch(url, { method: 'POST', body: JSON.stringify('v'.repeat(100_000)) });
  const before = await shown();
  const paused = await flowOf({ throttle: { limit: 0, interval_seconds: 1 } });
  await post(paused.endpoint);
  const [queued] = await hw.sql<{ id: string }[]>`select id from invocations where source_id = ${paused.id}`;
  expect((await hw.api('POST', `/executions/${queued?.id}/cancel`)).status).toBe(204);
  const waits = await flowOf({});
  await fetch(waits.endpoint, { method: 'POST', body: '1' });
  const [step] = await eventually(async () => {
    const rows = await hw.sql<{ exports: string }[]>`
      select s.exports from execution_steps s join executions x on x.id = s.execution_id and x.workflow_id = ${waits.id}`;
    return rows.length > 0 && rows;
  });
  expect((await post(JSON.parse(step?.exports ?? '{}').url)).status).toBe(200);
  // Neither alone is this large.
  await eventually(async () => (await shown()) > before + 200_000, { timeoutMs: 20_000 });
});
