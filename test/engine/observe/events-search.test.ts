import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { createEvents } from '../../../engine/src/observe/search/stored-events.ts';
import { openDatabase } from '../../../engine/src/db/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

/** Yesterday: what is older than history is kept may go at any moment. */
const FIRST_MS = Math.floor(Date.now() / 1_000 - 24 * 3_600) * 1_000;
const CODE = `export default { name: 'Orders', version: '1', run() {} };`;

let server: Headwater;
let foreignKey: string;
/** Two sources of the account, and one of another. */
let orders: string;
let refunds: string;
let foreign: string;

beforeAll(async () => {
  server = await sharedHeadwater();
  const { data } = await server.admin('POST', '/accounts', { name: 'another' });
  foreignKey = data.api_key;
  orders = (await server.deploy(CODE)).id;
  refunds = (await server.deploy(CODE)).id;
  const made = await server.as(foreignKey)('POST', '/sources', { component_code: CODE });
  foreign = made.data.id;
  await insert(orders, 0, { data: '{"order":1,"note":"first \\"quoted\\" note"}', emitId: 'no-1' });
  await insert(refunds, 1, { data: '{"refund":1}', channel: 'money' });
  await insert(orders, 2, { data: '{"order":2,"city":"Köln"}', summary: 'second order' });
  await insert(refunds, 3, { data: '{"error":"refund 1 failed"}', channel: '$errors' });
  await insert(orders, 4, { data: JSON.stringify({ order: 3, long: `${'x'.repeat(3_000)}needle` }) });
  await insert(foreign, 5, { data: '{"order":1}', emitId: 'no-1', accountId: data.id });
});
afterAll(() => server.stop());

interface Given {
  data: string;
  channel?: string;
  summary?: string;
  emitId?: string;
  accountId?: string;
}

/** One event `seconds` after FIRST_MS. */
async function insert(emitterId: string, seconds: number, { data, accountId, ...given }: Given): Promise<void> {
  await server.sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, summary, emit_id, data)
    values (${emitterId}, ${FIRST_MS + seconds * 1_000}, 0, ${accountId ?? server.accountId}, ${given.channel ?? ''},
      ${given.summary ?? null}, ${given.emitId ?? null}, ${data})`;
}

const secondsOf = (rows: { indexed_at_ms: number }[]) => rows.map((row) => (row.indexed_at_ms - FIRST_MS) / 1_000);

test.each<[query: () => Record<string, unknown>, found: number[]]>([
  [() => ({}), [4, 2, 1, 0]],
  [() => ({ emitter_id: orders }), [4, 2, 0]],
  [() => ({ event_name: 'money' }), [1]],
  [() => ({ event_name: '' }), [4, 2, 0]],
  [() => ({ event_name: '$errors' }), [3]],
  [() => ({ id: `${FIRST_MS + 2_000}-0` }), [2]],
  [() => ({ id: `${refunds}-${FIRST_MS + 1_000}-0` }), [1]],
  [() => ({ id: `${refunds}-${FIRST_MS + 1_000}-0`, emitter_id: orders }), []],
  [() => ({ id: `${foreign}-${FIRST_MS + 5_000}-0` }), []],
  [() => ({ id: 'no-1' }), [0]],
  [() => ({ id: `${FIRST_MS + 3_000}-0` }), [3]],
  [() => ({ id: `${FIRST_MS + 3_000}-0`, event_name: 'money' }), []],
  [() => ({ text: '"order":2' }), [2]],
  [() => ({ text: 'first "quoted" note' }), [0]],
  [() => ({ text: 'Köln' }), [2]],
  [() => ({ text: 'second order' }), [2]],
  [() => ({ text: 'needle' }), [4]],
  [() => ({ text: '%' }), []],
  [() => ({ text: 'refund' }), [1]],
  [() => ({ text: 'refund', event_name: '$errors' }), [3]],
  [() => ({ since: FIRST_MS + 1_000, until: new Date(FIRST_MS + 4_000).toISOString() }), [2, 1]],
  [() => ({ until: '2025-12-31' }), []],
])('a search for %s finds it, newest first, in all sources of the account', async (query, found) => {
  const { status, data, text } = await server.api('GET', '/events', { ...query(), limit: 100 });
  expect([status, secondsOf(data)]).toEqual([200, found]);
  expect(JSON.parse(text).page_info).not.toHaveProperty('scanned_until');
});

test('a search goes on from page to page; data is cut unless it is expanded', async () => {
  const first = await server.api('GET', '/events', { limit: 3 });
  expect(first.data[0]).toMatchObject({ event_truncated: true, metadata: { emitter_id: orders } });
  const { end_cursor: after } = JSON.parse(first.text).page_info;
  const second = await server.api('GET', '/events', { limit: 3, after });
  expect(secondsOf([...first.data, ...second.data])).toEqual([4, 2, 1, 0]);
  const whole = await server.api('GET', '/events', { limit: 1, expand: 'event' });
  expect(whole.data[0].event.long).toMatch(/needle$/);
});

test('another account finds its own events alone, and no emitter of this one', async () => {
  const api = server.as(foreignKey);
  expect(secondsOf((await api('GET', '/events', { limit: 100 })).data)).toEqual([5]);
  expect(secondsOf((await api('GET', '/events', { id: 'no-1' })).data)).toEqual([5]);
  expect((await api('GET', '/events', { id: `${orders}-${FIRST_MS}-0` })).data).toEqual([]);
  expect((await api('GET', '/events', { emitter_id: orders })).status).toBe(404);
  const { text } = await server.api('GET', '/events', { limit: 2 });
  const { end_cursor: after } = JSON.parse(text).page_info;
  expect((await api('GET', '/events', { after })).data).toEqual([]);
});

test.each<[query: Record<string, unknown>, says: RegExp]>([
  [{ since: 'soon' }, /since must be a time/],
  [{ after: 'nonsense' }, /after is not a cursor/],
  [{ before: 'MTow' }, /before is not supported here/],
  [{ text: 'x'.repeat(1_001) }, /text is longer than 1000 characters/],
  [{ limit: 0 }, /limit/],
  [{ limit: 101 }, /limit/],
])('a search by %j answers 400 and names the parameter', async (query, says) => {
  const { status, text } = await server.api('GET', '/events', query);
  expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringMatching(says)]);
});

test('a search among very many events reads a bounded part of them, by their key, and its cursor leads to the end', async () => {
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.url, maxConnections: 1 });
  const accountId = await insertAccount(db.sql);
  const who = { accountId, userId: accountId };
  const emitters = [await insertSource(db.sql, accountId), await insertSource(db.sql, accountId)];
  const rows = 60_000;
  for (const emitterId of emitters)
    await db.sql`
      insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
      select ${emitterId}, ${FIRST_MS}::int8 + n, 0, ${accountId}, '', case when n = 1 then '"needle"' else '"' || repeat('x', 500) || '"' end
      from generate_series(1, ${rows}::int4) n`;
  const events = createEvents({ db });
  const rowsRead = async () => {
    await db.sql`select pg_stat_force_next_flush()`;
    const [read] = await db.sql<{ rows: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::float8 as rows from pg_stat_user_tables where relname = 'events'`;
    return read?.rows ?? 0;
  };
  const found: string[] = [];
  let after: string | undefined;
  let scannedUntilMs: number | undefined;
  let pages = 0;
  do {
    const before = await rowsRead();
    const request = { limit: 10, expand: false, text: 'needle', ...(after === undefined ? {} : { after }) };
    const page = await events.search(who, request);
    expect((await rowsRead()) - before).toBeLessThanOrEqual(3 * LIMITS.maxScannedEvents);
    expect(page.scannedUntilMs ?? 0).toBeLessThan(scannedUntilMs ?? Infinity);
    ({ endCursor: after, scannedUntilMs } = page);
    found.push(...page.items.map(({ data }) => data));
    pages++;
  } while (scannedUntilMs !== undefined && pages < 20);
  expect([found, pages]).toEqual([['"needle"', '"needle"'], expect.toSatisfy((n: number) => n > 4 && n < 10)]);
  await db.close();
  await database.drop();
});
