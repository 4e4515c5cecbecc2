import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { historyRowBytes } from '../../../engine/src/accounts/history-row-bytes.ts';
import { createHistoryMeter } from '../../../engine/src/cluster/retention/history-meter.ts';
import { createTraceContexts } from '../../../engine/src/tracing/trace-contexts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount } from '../../support/source-rows.ts';

const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;
const CALLER = { traceparent: TRACEPARENT };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const limits = { passesTraces: () => true };

function node() {
  const history = createHistoryMeter(Date.now);
  const { sql } = database.db;
  return { history, traces: createTraceContexts({ sql, limits, history, log: testLog }) };
}

const storedOf = (accountId: string) => database.db.sql<{ traceparent: string; tracestate: string | null }[]>`
  select traceparent, tracestate from trace_contexts where account_id = ${accountId} order by id`;

test('a trace is stored in 55 characters, however long its header is, and counts as history', async () => {
  const { history, traces } = node();
  const accountId = await insertAccount(database.db.sql);
  const traceparent = `cc-${TRACE}-${SPAN}-03-${'x'.repeat(190)}`;
  const rootId = newId('invocation');
  await traces.keep(accountId, rootId, { traceparent, tracestate: 'vendor=1' });
  await traces.keep(accountId, newId('invocation'), { traceparent: 'none', tracestate: 'vendor=1' });
  await traces.keep(accountId, newId('invocation'), undefined);
  expect(await storedOf(accountId)).toEqual([{ traceparent: TRACEPARENT, tracestate: 'vendor=1' }]);
  expect(history.take()).toMatchObject([{ accountId, bytes: historyRowBytes(TRACEPARENT, 'vendor=1') }]);
  const context = { traceId: TRACE, parentSpanId: SPAN, parentSampled: true, traceState: 'vendor=1' };
  expect(await traces.of(accountId, rootId)).toEqual(context);
  expect(await node().traces.of(accountId, rootId)).toEqual(context);
});

test('requests of an account that is gone fail none of its neighbours', async () => {
  const { traces } = node();
  const accountId = await insertAccount(database.db.sql);
  await Promise.all([accountId, 'o_deleted', accountId].map((id) => traces.keep(id, newId('invocation'), CALLER)));
  expect(await storedOf(accountId)).toHaveLength(2);
});

test('the flood of one account comes neither before the requests nor before the reads of another', async () => {
  const { traces } = node();
  const [flooding, calm] = [await insertAccount(database.db.sql), await insertAccount(database.db.sql)];
  const ids = Array.from({ length: 2_000 }, () => newId('invocation'));
  const calmId = newId('invocation');
  const overtakes = async (work: (accountId: string, id: string) => unknown) => {
    let done = 0;
    const flood = ids.map(async (id) => {
      await work(flooding, id);
      done++;
    });
    await work(calm, calmId);
    const doneBefore = done;
    await Promise.all(flood);
    return doneBefore < ids.length;
  };
  expect(await overtakes((accountId, id) => traces.keep(accountId, id, CALLER))).toBe(true);
  const other = node().traces;
  expect(await overtakes((accountId, id) => other.of(accountId, id))).toBe(true);
});
