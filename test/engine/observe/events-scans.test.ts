import { randomBytes } from 'node:crypto';
import { LIMITS, newId } from '@headwater/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventRecord, Page, Principal } from '../../../engine/src/contract/engine.ts';
import { createWebhooks } from '../../../engine/src/outbox/webhooks/webhooks.ts';
import { createEvents } from '../../../engine/src/observe/search/stored-events.ts';
import { fixedKeys } from '../../../engine/src/secrets/master-key.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { type Database, openDatabase, type Sql, type Transaction } from '../../../engine/src/db/database.ts';
import { deleteEvents, EVENTS_DELETED_AT_ONCE } from '../../../engine/src/observe/search/delete-events.sql.ts';
import { readInIndexOrder } from '../../../engine/src/events/read-events.sql.ts';
import { redeliverFailed } from '../../../engine/src/outbox/deliveries/redeliver.sql.ts';
import { roomWith } from '../../support/account-room.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

const ROWS = 100_000;
/**
 * A page, its count and the end of the newest ones each scan a limited number of rows. One more
 * scan finds the place where they stopped.
 */
const MAX_ROWS_READ = 4 * LIMITS.maxScannedEvents + 100;

let database: TestDatabase;
/** One connection, because statistics of reads are per connection. */
let db: Database;
let who: Principal;
let emitterId: string;

beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxConnections: 1 });
  const accountId = await insertAccount(db.sql);
  who = { accountId, userId: accountId };
  emitterId = await insertSource(db.sql, accountId);
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

/** Inserts events of a channel, from `ms` on. */
async function addEvents(channel: string, count: number, ms: number): Promise<void> {
  await db.sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${emitterId}, ${ms}::int8 + n / 100, n % 100, ${who.accountId}, ${channel}, n::text from generate_series(1, ${count}::int4) n`;
}

async function rowsRead(table: string): Promise<number> {
  await db.sql`select pg_stat_force_next_flush()`;
  const [read] = await db.sql<{ rows: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::float8 as rows from pg_stat_user_tables where relname = ${table}`;
  return read?.rows ?? 0;
}

/** Once as the table is right after a burst, once as it is known. */
async function eachTime(work: () => Promise<void>): Promise<void> {
  await work();
  await db.sql`analyze events`;
  await db.sql`analyze deliveries`;
  await work();
}

async function readingBounded(list: () => Promise<Page<EventRecord>>): Promise<Page<EventRecord>> {
  const before = await rowsRead('events');
  const page = await list();
  const read = (await rowsRead('events')) - before;
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThanOrEqual(MAX_ROWS_READ);
  return page;
}

test.each([
  ['x', ''],
  ['$logs', undefined],
])(
  'behind events of %s, those of the default channel are found page by page, each of which reads little',
  async (many, channel) => {
    await addEvents('', 3, 1_000);
    await addEvents(many, ROWS, 2_000);
    await addEvents('', 2, 5_000);
    const request = { limit: 10, expand: false, ...(channel === undefined ? {} : { channel }) };
    const events = createEvents({ db });
    await eachTime(async () => {
      for (const direction of ['after', 'before'] as const) {
        const seen: string[] = [];
        let cursor: string | undefined = direction === 'after' ? undefined : '1-0';
        let pages = 0;
        do {
          const at: string | undefined = cursor;
          const page = await readingBounded(() =>
            events.history(who, emitterId, { ...request, ...(at === undefined ? {} : { [direction]: at }) }),
          );
          expect(page.total).toBe(2);
          const ids = page.items.map(({ id }) => id);
          if (direction === 'after') seen.push(...ids);
          else seen.unshift(...ids);
          cursor = direction === 'after' ? page.endCursor : page.startCursor;
          pages++;
        } while (cursor !== undefined && pages < 20);
        expect(seen).toEqual(['5000-2', '5000-1', '1000-3', '1000-2', '1000-1']);
        expect(pages).toBeLessThanOrEqual(ROWS / LIMITS.maxScannedEvents + 2);
      }
      const recent = await readingBounded(() => events.recent(who, emitterId, request));
      expect(recent.items.map(({ id }) => id)).toEqual(['5000-2', '5000-1']);
      expect(recent.total).toBe(2);
    });
  },
);

test('a channel that has an index is found whole, however many others are in front', async () => {
  await addEvents('rare', 3, 1_000);
  await addEvents('x', ROWS, 2_000);
  const events = createEvents({ db });
  await eachTime(async () => {
    const before = await rowsRead('events');
    const page = await events.history(who, emitterId, { limit: 10, expand: false, channel: 'rare' });
    expect((await rowsRead('events')) - before).toBeLessThan(100);
    expect([page.items.length, page.total, page.endCursor]).toEqual([3, 3, '1000-1']);
  });
});

test('events are deleted in slices, each for good, and a deletion that ended early goes on', async () => {
  const count = 20 * EVENTS_DELETED_AT_ONCE + 1;
  await addEvents('', count, 1_000);
  const left = async () =>
    (await database.db.sql<{ n: number }[]>`select count(*)::int4 as n from events`)[0]?.n ?? Number.NaN;
  // The third slice contains the event that cannot be deleted.
  await db.sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$`;
  await db.sql`
    create trigger refuse before delete on events for each row when (old.data = ${db.sql.unsafe(`'${2 * EVENTS_DELETED_AT_ONCE + 1}'`)})
    execute function refuse()`;
  await expect(deleteEvents(db.sql, who.accountId, emitterId, {})).rejects.toThrow('not this one');
  expect(await left()).toBe(count - 2 * EVENTS_DELETED_AT_ONCE);
  await db.sql`drop trigger refuse on events`;
  const before = await rowsRead('events');
  await deleteEvents(db.sql, who.accountId, emitterId, {});
  expect((await rowsRead('events')) - before).toBeLessThan(3 * count);
  expect(await left()).toBe(0);
});

/** Adds deliveries of the emitter's events, in order; `lost`: of events that do not exist. */
async function addDeliveries(webhookId: string, status: string, count: number, lost = false): Promise<void> {
  await db.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    select ${`dlv_${newId('delivery')}`} || lpad(n::text, 8, '0'), ${who.accountId}, ${webhookId}, ${emitterId},
      ${lost ? 9_000 : 1_000}::int8 + n / 100, n % 100, ${status} from generate_series(1, ${count}::int4) n`;
}

async function statusesOf(webhookId: string): Promise<Record<string, number>> {
  const rows = await db.sql<{ status: string; n: number }[]>`
    select status, count(*)::int4 as n from deliveries where webhook_id = ${webhookId} group by status`;
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

test('failed deliveries are found behind many delivered ones', async () => {
  await addEvents('', 10, 1_000);
  await addDeliveries('wh_a', 'delivered', ROWS);
  await addDeliveries('wh_a', 'failed', 10);
  await eachTime(async () => {
    const before = await rowsRead('deliveries');
    expect(await redeliverFailed(db.sql, who.accountId, 'wh_a', {})).toBe(10);
    expect((await rowsRead('deliveries')) - before).toBeLessThan(100);
    await db.sql`update deliveries set status = 'failed' where status = 'pending'`;
  });
});

test('failed deliveries of deleted events are cancelled, and not in front of the others again', async () => {
  await addEvents('', 10, 1_000);
  await addDeliveries('wh_a', 'failed', 2_500, true);
  await addDeliveries('wh_a', 'failed', 10);
  expect(await redeliverFailed(db.sql, who.accountId, 'wh_a', {})).toBe(10);
  expect(await statusesOf('wh_a')).toEqual({ cancelled: 2_500, pending: 10 });
  const before = await rowsRead('deliveries');
  expect(await redeliverFailed(db.sql, who.accountId, 'wh_a', {})).toBe(0);
  expect((await rowsRead('deliveries')) - before).toBeLessThan(100);
});

test('a delivery that fails again at once is not made due again by the same request', async () => {
  await addEvents('', 2_500, 1_000);
  await addDeliveries('wh_a', 'failed', 2_500);
  await db.sql`
    create function fail() returns trigger language plpgsql as $$ begin new.status = 'failed'; return new; end $$`;
  await db.sql`create trigger fail before update on deliveries for each row execute function fail()`;
  expect(await redeliverFailed(db.sql, who.accountId, 'wh_a', {})).toBe(2_500);
});

test('with events deleted, all that is due of them is cancelled, however much is due of others', async () => {
  await db.sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    values ('wh_a', ${who.accountId}, ${who.userId}, 'http://localhost', 'raw', '')`;
  await addEvents('', 12_000, 1_000);
  await addDeliveries('wh_a', 'pending', 6_000, true);
  await addDeliveries('wh_a', 'pending', 12_000);
  await deleteEvents(db.sql, who.accountId, emitterId, {});
  expect(await statusesOf('wh_a')).toEqual({ pending: 6_000, cancelled: 12_000 });
});

test('a page and its cursors are read at one moment', async () => {
  await addEvents('', 10, 1_000);
  const count = (sql: Sql | Transaction) => sql`select from events where emitter_id = ${emitterId}`;
  await readInIndexOrder(db.sql, async (tx) => {
    expect(await count(tx)).toHaveLength(10);
    const others = database.db.sql;
    await others`delete from events where emitter_id = ${emitterId} and indexed_at_ms = 1000 and seq < 5`;
    expect((await count(others)).length).toBeLessThan(10);
    expect(await count(tx)).toHaveLength(10);
  });
});

test('deliveries are listed, found and counted by their key, however many there are', async () => {
  const sealer = createSealer(fixedKeys([{ id: 'test', key: randomBytes(32) }]));
  await db.sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    select 'wh_' || n, ${who.accountId}, ${who.userId}, 'http://localhost', 'raw', ${sealer.seal(who.accountId, 'x')} from generate_series(1, 20) n`;
  await addDeliveries('wh_1', 'delivered', ROWS);
  await addDeliveries('wh_2', 'failed', 100);
  const [{ id: wanted } = { id: '' }] = await db.sql<
    { id: string }[]
  >`select max(id) as id from deliveries where webhook_id = 'wh_1'`;
  const webhooks = createWebhooks({ db, sealer, room: roomWith() });
  const reading = async <T>(most: number, look: () => Promise<T>) => {
    const before = await rowsRead('deliveries');
    const found = await look();
    expect((await rowsRead('deliveries')) - before).toBeLessThanOrEqual(most);
    return found;
  };
  const counted = LIMITS.maxCountedEvents;
  await eachTime(async () => {
    const page = { limit: 100 };
    const ofOne = await reading(counted + 1_000, () => webhooks.deliveries(who, 'wh_1', page));
    expect([ofOne.items.length, ofOne.total]).toEqual([100, counted]);
    const failed = await reading(1_000, () => webhooks.deliveries(who, undefined, page, { statuses: ['failed'] }));
    expect([failed.items.length, failed.total]).toEqual([100, 100]);
    const rare = await reading(3 * LIMITS.maxScannedDeliveries, () =>
      webhooks.deliveries(who, undefined, page, { errorClasses: ['timeout'] }),
    );
    expect([rare.items.length, rare.endCursor === undefined]).toEqual([0, false]);
    expect(await reading(10, () => webhooks.delivery(who, wanted))).toMatchObject({ id: wanted, webhookId: 'wh_1' });
  });
});
