import { idFloor, type IdKind, LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emitIdOf } from '../../../engine/src/events/event-id.ts';
import { type Database, openDatabase, type Transaction } from '../../../engine/src/db/database.ts';
import { inOneSnapshot } from '../../../engine/src/events/read-events.sql.ts';
import { readTraceEvents, type TraceEventRow } from '../../../engine/src/observe/traces/read-trace.sql.ts';
import { readTraceDeliveries } from '../../../engine/src/observe/traces/read-trace-deliveries.sql.ts';
import { readTraceExecutionIds, readTraceRuns } from '../../../engine/src/observe/traces/read-trace-runs.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

const TRACE = 'inv_first';
const FIRST_MS = 1_700_000_000_000;
const MOMENTS = 2_000;
const ROWS_OF_A_MOMENT = 100;
const EVENTS = 50;
const WEBHOOKS = 20;
/** Those of the moments of the events, with some left over. */
const MAX_ROWS_READ = 3 * EVENTS * ROWS_OF_A_MOMENT;
const LIMIT = LIMITS.maxTraceRows + 1;

let database: TestDatabase;
/** One connection, because statistics of reads are per connection. */
let db: Database;
let accountId: string;
let emitterId: string;
let events: TraceEventRow[];
/** Ids that the events started, in order. */
const started = { invocation: [] as string[], execution: [] as string[], delivery: [] as string[] };

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxConnections: 1 });
  accountId = await insertAccount(db.sql);
  emitterId = await insertSource(db.sql, accountId);
  await fill();
  events = await inOneSnapshot(db.sql, (tx) => readTraceEvents(tx, accountId, TRACE, LIMIT));
}, 120_000);
afterAll(async () => {
  await db.close();
  await database.drop();
});

const moments = Array.from({ length: MOMENTS }, (_, n) => FIRST_MS + n);
/** As far from each other as they can be. */
const eventMs = moments.filter((ms) => ms % (MOMENTS / EVENTS) === 0);
const floorsOf = (kind: IdKind) => moments.map((ms) => idFloor(kind, ms));

/**
 * Milliseconds in which others made a hundred of everything, and the trace one of each here and
 * there.
 */
async function fill(): Promise<void> {
  const { sql } = db;
  const other = await insertAccount(sql);
  const webhooks = Array.from({ length: WEBHOOKS }, (_, n) => `wh_${String(n).padStart(2, '0')}`);
  const all = sql`cross join generate_series(1, ${ROWS_OF_A_MOMENT}::int4) as n`;
  await sql`
    insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at, caused_by)
    select floor || 'other' || n, ${other}, 'dc_other', 'event', 'ok', '[]', now(), now(), 'dc_other-' || n || '-0'
    from unnest(${floorsOf('invocation')}::text[]) as f(floor) ${all}`;
  for (const kind of ['invocation', 'execution'] as const)
    await sql`
      insert into invocations (id, account_id, source_id, kind, event, caused_by, trace_id)
      select floor || 'other' || n, ${other}, 'dc_other', 'event', '1', 'dc_other-' || n || '-0', 'inv_other' || n
      from unnest(${floorsOf(kind)}::text[]) as f(floor) ${all}`;
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    select id, ${accountId}, ${accountId}, 'http://127.0.0.1:9/', 'raw', 'sealed' from unnest(${webhooks}::text[]) as w(id)`;
  await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    select floor || 'other' || n, ${accountId}, (${webhooks}::text[])[1 + n % ${WEBHOOKS}::int4], 'dc_other', ms, n, 'delivered'
    from unnest(${floorsOf('delivery')}::text[], ${moments}::int8[]) as f(floor, ms) ${all}`;
  for (const ms of eventMs) await addEvent(ms, webhooks);
  for (const table of ['runs', 'invocations', 'deliveries']) await sql`analyze ${sql(table)}`;
}

async function addEvent(ms: number, webhooks: readonly string[]): Promise<void> {
  const { sql } = db;
  const emitId = emitIdOf(emitterId, { ms, seq: 0 });
  const ids = (['invocation', 'execution', 'delivery'] as const).map((kind) => {
    const id = `${idFloor(kind, ms)}own`;
    started[kind].push(id);
    return id;
  }) as [string, string, string];
  await sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, invocation_id, channel, data)
    values (${emitterId}, ${ms}, 0, ${accountId}, ${TRACE}, '', '1')`;
  const of = sql`${accountId}, ${emitterId}, 'event'`;
  if (ms % 80 === 0)
    await sql`
      insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at, caused_by)
      values (${ids[0]}, ${of}, 'ok', '[]', now(), now(), ${emitId})`;
  else
    await sql`
      insert into invocations (id, account_id, source_id, kind, event, caused_by, trace_id)
      values (${ids[0]}, ${of}, '1', ${emitId}, ${TRACE})`;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, caused_by, trace_id)
    values (${ids[1]}, ${accountId}, ${newId('workflow')}, 'event', '1', ${emitId}, ${TRACE})`;
  await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    values (${ids[2]}, ${accountId}, ${webhooks.at(ms % WEBHOOKS) ?? ''}, ${emitterId}, ${ms}, 0, 'delivered')`;
}

async function rowsRead(): Promise<number> {
  await db.sql`select pg_stat_force_next_flush()`;
  const [read] = await db.sql<{ rows: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as rows from pg_stat_user_tables
    where relname in ('runs', 'invocations', 'deliveries')`;
  return read?.rows ?? 0;
}

async function reading<T>(read: (tx: Transaction) => Promise<T>): Promise<T> {
  const before = await rowsRead();
  const answer = await inOneSnapshot(db.sql, read);
  const rows = (await rowsRead()) - before;
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(MAX_ROWS_READ);
  return answer;
}

test('all events of the trace are read', () => expect(events).toHaveLength(EVENTS));

test('runs started by events are found without runs of other milliseconds, from each kind of emitter', async () => {
  const runs = await reading((tx) => readTraceRuns(tx, accountId, [TRACE], events, LIMIT));
  expect(runs.map(({ id }) => id)).toEqual(started.invocation);
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['ok', 'queued']));
  const few = await reading((tx) => readTraceRuns(tx, accountId, [TRACE], events, 3));
  expect(few.map(({ id }) => id)).toEqual(started.invocation.slice(0, 3));
});

test('so are executions', async () => {
  const ids = await reading((tx) => readTraceExecutionIds(tx, accountId, TRACE, events, LIMIT));
  expect(ids).toEqual(started.execution);
});

test('and deliveries, without those of other events', async () => {
  const deliveries = await reading((tx) => readTraceDeliveries(tx, accountId, events, LIMIT));
  expect(deliveries.map(({ id }) => id)).toEqual(started.delivery);
  expect(deliveries.every((row) => row.emitter_id === emitterId)).toBe(true);
});
