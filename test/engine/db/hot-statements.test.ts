import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDeliveries } from '../../../engine/src/outbox/deliveries/claim-deliveries.sql.ts';
import { claimGoverned } from '../../../engine/src/outbox/deliveries/claim-governed.sql.ts';
import { claimInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import { claimOfAccount, readDueWebhooks } from '../../../engine/src/outbox/deliveries/claim-of-account.sql.ts';
import { claimSends } from '../../../engine/src/outbox/sends/claim-sends.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import * as expired from '../../../engine/src/cluster/retention/delete-expired.sql.ts';
import { accountLane } from '../../../engine/src/outbox/deliveries/deliver-lane.ts';
import { pageDeliveries } from '../../../engine/src/outbox/deliveries/page-deliveries.sql.ts';
import { countExecutions, listExecutionIds, readExecutions } from '../../../engine/src/observe/read-executions.sql.ts';
import { readWebhookHealth } from '../../../engine/src/outbox/webhooks/read-webhook-health.sql.ts';
import { recordAttempts, type Successors } from '../../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import { findDeliveryWebhook } from '../../../engine/src/outbox/deliveries/read-deliveries.sql.ts';
import { redeliverMatching } from '../../../engine/src/outbox/deliveries/redeliver-matching.sql.ts';
import { skipDelivery } from '../../../engine/src/outbox/deliveries/skip-delivery.sql.ts';
import { countRedeliverable, redeliverFailed } from '../../../engine/src/outbox/deliveries/redeliver.sql.ts';
import { releaseDeliveries, releaseUnbegun } from '../../../engine/src/outbox/deliveries/release-deliveries.sql.ts';
import { readReplayEvents } from '../../../engine/src/runs/replays/replay-events.sql.ts';
import { requeueStalledDeliveries } from '../../../engine/src/cluster/requeue.sql.ts';
import { cancelDue } from '../../../engine/src/observe/search/cancel-due.sql.ts';
import { readOldestWaiting } from '../../../engine/src/observe/stats/stats.sql.ts';
import { orderHeld } from '../../../engine/src/outbox/deliveries/order-held.sql.ts';
import { FIRST_ORDERED, releaseParked } from '../../../engine/src/outbox/deliveries/release-parked.sql.ts';
import { readBacklogs } from '../../../engine/src/runs/counts/counts.sql.ts';
import { retryPending } from '../../../engine/src/outbox/deliveries/retry-pending.sql.ts';
import { searchEvents } from '../../../engine/src/observe/search/search-events.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';
import { scannedTables, type WatchedPlans, watchPlans } from '../../support/watch-plans.ts';

/** They grow with every event. */
const BIG = ['deliveries', 'events', 'executions', 'execution_steps', 'invocations', 'runs', 'sends', 'missed_events'];
const ROWS = 10_000;
const WEBHOOKS = 50;
const NODE = 'node_1';

let database: TestDatabase;
let watched: WatchedPlans;
let sql: Sql;
let accountId: string;
let sourceId: string;
let webhookId: string;
let fifoId: string;
/**
 * It has half of all executions, runs and sends, another one nearly all the rest, `SMALL` a few.
 */
const DOMINANT = 'p_dominant';
const SMALL = 'p_small';

beforeAll(async () => {
  database = await createTestDatabase();
  watched = await watchPlans(database.url);
  sql = watched.sql;
  accountId = await insertAccount(sql);
  sourceId = await insertSource(sql, accountId);
  [webhookId, fifoId] = [newId('webhook'), newId('webhook')];
  await fill();
});
afterAll(async () => {
  await watched.close();
  await database.drop();
});

async function fill(): Promise<void> {
  const hooks = [webhookId, fifoId, ...Array.from({ length: WEBHOOKS - 2 }, () => newId('webhook'))];
  await sql`insert into nodes (id, role) values (${NODE}, 'all')`;
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret, ordering)
    select id, ${accountId}, ${accountId}, 'http://127.0.0.1:2/', 'raw', 'sealed', case when id = ${fifoId} then 'fifo' else 'none' end
    from unnest(${hooks}::text[]) as h(id)`;
  await sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${sourceId}, 1700000000000 + n, 0, ${accountId}, '', '{}' from generate_series(1, ${ROWS}::int4) n`;
  // One webhook has half of all; of each a tenth waits and a hundredth has failed.
  await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status, attempt_count, next_attempt_at,
      leased_by, order_key, error_class)
    select 'dlv_' || lpad(n::text, 20, '0'), ${accountId}, hook, ${sourceId}, 1700000000000 + n, 0,
      case when n % 10 = 0 then 'pending' when n % 100 = 1 then 'failed' else 'delivered' end, n % 2,
      now() + make_interval(secs => n % 3 - 2), case when n % 100 = 0 then ${NODE} end,
      case when hook = ${fifoId} then 'k' || n % 7 end, case when n % 100 = 1 then 'timeout' end
    from generate_series(1, ${ROWS}::int4) n
    cross join lateral (select (${hooks}::text[])[case when n % 4 < 2 then 1 when n % 4 = 2 then 2 else 1 + n / 4 % ${WEBHOOKS}::int4 end] as hook) h`;
  const emitterOf = sql`case when n % 500 = 0 then ${SMALL} when n % 2 = 1 then ${DOMINANT} else 'p_other' end`;
  await sql`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at, ended_at)
    select 'exec_' || lpad(n::text, 20, '0'), ${accountId}, ${emitterOf}, 'd_1', 'http',
      case when n % 50 = 0 then 'failed' else 'succeeded' end, '{}', '{}', 't', now() - interval '1 day', now() - interval '1 day'
    from generate_series(1, ${ROWS}::int4) n`;
  await sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs, started_at, ended_at)
    select id, 0, account_id, 'd_1', 'a', 'done', 1, '{}', '[]', now(), now() from executions`;
  await sql`
    insert into missed_events (emitter_id, ms, seq, account_id, reason, channel, emit_ids, missed)
    select ${sourceId}, 1700000000000 + n, 0, ${accountId}, 'r', '', '[]', 1 from generate_series(1, ${ROWS}::int4) n`;
  await sql`
    insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at)
    select 'inv_' || lpad(n::text, 20, '0'), ${accountId}, ${emitterOf}, 'http', 'ok', '[]', now() - interval '1 day', now() - interval '1 day'
    from generate_series(1, ${ROWS}::int4) n`;
  await sql`
    insert into sends (id, account_id, workflow_id, kind, status, payload, execution_id, trace_id, next_attempt_at, attempts)
    select 'snd_' || lpad(n::text, 20, '0'), ${accountId}, ${emitterOf}, 'http', case when n % 10 = 0 then 'pending' else 'delivered' end,
      '{}', 'exec_' || lpad(n::text, 20, '0'), 't', now(), '[]'
    from generate_series(1, ${ROWS}::int4) n`;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, hops, claim, crashes)
    select 'inv_' || lpad(n::text, 20, '0'), ${accountId}, case when n % 2 = 0 then ${sourceId} else 'dc_other' || n % 50 end, 'http', '{}', 0, 0, 0
    from generate_series(1, ${ROWS}::int4) n`;
  await sql`analyze`;
}

const page = { limit: 20 };
const before = Date.now();
const ofWebhook = () => ({ accountId, webhookId });
const expiries = () => [DOMINANT, SMALL].map((id) => ({ id, beforeMs: before }));
const range = () => ({
  accountId,
  emitterId: sourceId,
  listenerId: webhookId,
  eventName: null,
  filter: null,
  sinceMs: 0,
  untilMs: before,
  ids: null,
});
const attempt = { at: new Date().toISOString(), error: 'refused', duration_ms: 1 };
const keyOf = (deliveryId: string) => ({ item: { accountId, webhookId, id: deliveryId }, attempt });

const look = { after: '', limit: 1_000 };
const dueWebhooks = () => readDueWebhooks(sql, accountId, { answering: look, failing: look });

const STATEMENTS: [string, () => Promise<unknown>][] = [
  ['claims of one webhook', () => claimDeliveries(sql, NODE, webhookId, 64)],
  ['claims in order', () => claimGoverned(sql, NODE, fifoId, 64)],
  ['the webhooks of an account with something due', dueWebhooks],
  [
    'claims of many webhooks',
    async () => {
      const { answering } = await dueWebhooks();
      const lanes = answering.free.map((id) => ({ webhookId: id, most: 4 }));
      await claimOfAccount(sql, NODE, { accountId, lanes, otherwise: undefined, later: accountLane(accountId) });
    },
  ],
  [
    'records of attempts',
    () =>
      recordAttempts(
        sql,
        NODE,
        Array.from({ length: 64 }, (_, n) => ({
          ...keyOf(`dlv_${String(100 * n).padStart(20, '0')}`),
          status: 'pending',
          nextAttemptAtMs: before,
        })),
      ),
  ],
  [
    'records of attempts in order, and the next ones of their keys',
    async () => {
      const id = `dlv_${'10'.padStart(20, '0')}`;
      await sql`update deliveries set leased_by = ${NODE} where webhook_id = ${fifoId} and id = ${id}`;
      const item = { accountId, webhookId: fifoId, id, settings: { wakesLane: true as const } };
      const successors: Successors = { mayTake: () => true, taken: [] };
      expect(await recordAttempts(sql, NODE, [{ item, attempt, status: 'delivered' }], successors)).toEqual([true]);
      expect(successors.taken).toHaveLength(1);
    },
  ],
  [
    'skipped deliveries',
    () => skipDelivery(sql, { accountId, webhookId: fifoId, id: `dlv_${'30'.padStart(20, '0')}` }),
  ],
  ['a change of the order', () => releaseParked(sql, fifoId, { after: FIRST_ORDERED, maxMs: 60_000 })],
  ['claims of invocations', () => claimInvocations(sql, sourceId, NODE, 64)],
  ['claims of sends', () => claimSends(sql, NODE, accountId, 64)],
  ['releases of some', () => releaseUnbegun(sql, NODE, [{ webhookId, id: `dlv_${'1'.padStart(20, '0')}` }])],
  ['releases of a node', () => releaseDeliveries(sql, 'node_2')],
  ['stalled deliveries', () => requeueStalledDeliveries(sql, 60_000)],
  ['retries now', () => retryPending(sql, accountId, webhookId, {})],
  ['redeliveries', () => redeliverFailed(sql, accountId, webhookId, {})],
  ['retries now by a filter', () => retryPending(sql, accountId, webhookId, { filter: '{"n":1}' })],
  [
    'redeliveries by a filter',
    () => redeliverMatching(sql, { ...ofWebhook(), statuses: ['failed'], filter: '{"n":1}', isDryRun: false }),
  ],
  [
    'redeliveries by status',
    () => redeliverMatching(sql, { ...ofWebhook(), statuses: ['cancelled'], isDryRun: false }),
  ],
  ['counts of redeliveries', () => countRedeliverable(sql, accountId, webhookId, {})],
  ['deliveries of a webhook', () => pageDeliveries(sql, ofWebhook(), page)],
  ['deliveries of an account', () => pageDeliveries(sql, { accountId }, page)],
  ['one delivery', () => findDeliveryWebhook({ ...database.db, sql }, accountId, 'dlv_1')],
  ['deliveries of an event', () => pageDeliveries(sql, { accountId, emitId: `${sourceId}-1700000000001-0` }, page)],
  ['deliveries that wait', () => pageDeliveries(sql, { ...ofWebhook(), statuses: ['pending'] }, page)],
  ['deliveries of an account by status', () => pageDeliveries(sql, { accountId, statuses: ['held'] }, page)],
  ['failed deliveries', () => pageDeliveries(sql, { ...ofWebhook(), statuses: ['failed'] }, page)],
  ['deliveries by class', () => pageDeliveries(sql, { ...ofWebhook(), errorClasses: ['timeout'] }, page)],
  ['deliveries by text', () => pageDeliveries(sql, { ...ofWebhook(), text: 'refused' }, page)],
  ['the health of a webhook', () => readWebhookHealth(sql, { ...ofWebhook(), sinceMs: 0 })],
  ['executions', () => listExecutionIds(sql, accountId, DOMINANT, page)],
  ['executions of a small workflow', () => listExecutionIds(sql, accountId, SMALL, page)],
  ['executions by status', () => listExecutionIds(sql, accountId, DOMINANT, { ...page, statuses: ['failed'] })],
  ['counts of executions', () => countExecutions(sql, accountId, DOMINANT, {}, 10_000)],
  ['records of executions', () => readExecutions(sql, accountId, ['exec_1'], { maxEventBytes: 100 })],
  ['events', () => searchEvents(sql, { accountId, limit: 20, expand: false })],
  ['events by text', () => searchEvents(sql, { accountId, text: 'absent', limit: 20, expand: false })],
  [
    'events of a replay',
    () => readReplayEvents(sql, range(), { ms: 0, seq: 0 }, { limit: 500, maxBytes: 1_000_000, needsData: false }),
  ],
  ['expired events', () => expired.deleteExpiredEvents(sql, [{ id: sourceId, beforeMs: before }], 100)],
  ['expired notes', () => expired.deleteExpiredMissed(sql, [{ id: sourceId, beforeMs: before }], 100)],
  ['expired runs', () => expired.deleteExpiredRuns(sql, expiries(), 100)],
  ['expired executions', () => expired.deleteExpiredExecutions(sql, expiries(), 100)],
  ['expired sends', () => expired.deleteExpiredSends(sql, expiries(), 100)],
  ['expired deliveries', () => expired.deleteExpiredDeliveries(sql, [{ id: webhookId, beforeMs: before }], 100)],
];

test.each(STATEMENTS)('no table that grows is read as a whole by %s', async (_, work) => {
  const plans = await watched.of(work);
  expect(plans).not.toEqual([]);
  const scanned = plans.flatMap((plan) => scannedTables(plan).filter((table) => BIG.includes(table)));
  expect(scanned).toEqual([]);
});

const span = () => ({ accountId, emitterId: 'dc_absent', from: { ms: 0, seq: 0 }, to: { ms: before, seq: 0 } });

test.each([
  ['a start of a webhook', () => orderHeld(sql, accountId, webhookId, { maxMs: 60_000 })],
  ['a deletion of events', () => cancelDue(sql, span())],
  ['what has waited the longest', () => readOldestWaiting(sql, accountId)],
])('waiting deliveries are not sorted for %s', async (_, work) => {
  const plans = (await watched.of(work)).filter((plan) => plan.includes('deliveries_pending'));
  expect(plans).not.toEqual([]);
  for (const plan of plans) {
    const ofDeliveries = plan.slice(0, plan.indexOf('deliveries_pending')).split('Limit ').at(-1);
    expect(ofDeliveries).not.toMatch(/-> {2}Sort /);
  }
});

test('waiting deliveries are counted from their index, by one process', async () => {
  const plans = await watched.of(() => readBacklogs(sql));
  const plan = plans.find((one) => one.includes('octet_length'));
  expect(plan).toMatch(/using deliveries_pending on deliveries|Bitmap Index Scan on deliveries_pending/);
  expect(plan).not.toMatch(/Seq Scan on deliveries|Gather/);
});

test('executions of a workflow that is older than most are found by their workflow', async () => {
  // Nearly all of the old half are its own: in the order of ids those of the new half come first.
  await sql`update executions set workflow_id = 'p_new' where id > ${'exec_' + String(ROWS / 2).padStart(20, '0')}`;
  await sql`vacuum analyze executions`;
  for (const statuses of [undefined, ['succeeded' as const]]) {
    const choice = { ...page, ...(statuses === undefined ? {} : { statuses }) };
    const [plan] = await watched.of(() => listExecutionIds(sql, accountId, DOMINANT, choice));
    expect(plan).toMatch(/Scan Backward using executions_(workflow|succeeded) /);
  }
});

/** With one dominant emitter the primary key is in the right order as well, and has all rows. */
test.each([
  ['executions', 'executions_workflow', expired.deleteExpiredExecutions],
  ['runs', 'runs_source', expired.deleteExpiredRuns],
  ['sends', 'sends_workflow', expired.deleteExpiredSends],
])('expired rows of %s are found by their emitter beside one that has most of them', async (_, index, remove) => {
  const [plan] = await watched.of(() => remove(sql, [{ id: SMALL, beforeMs: before }], 100));
  expect(plan).toMatch(new RegExp(`Scan using ${index} `));
});
