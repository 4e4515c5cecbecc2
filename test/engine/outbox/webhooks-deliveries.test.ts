import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idFloor, LIMITS, newId } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const EMITTER = 'dc_emitter';
const EMITS = `export default { name: 'Emits', version: '1', props: { http: '$.interface.http' }, run() { this.$emit({ n: 1 }); } };`;
/** Events of the rows that tests insert: one a second from here on. */
// Rows of last year would be deleted as history while a test looks at them.
const FIRST_MS = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
const isoOf = (seconds: number) => new Date(FIRST_MS + seconds * 1_000).toISOString();

let server: Headwater;
let receiver: Receiver;
let foreignKey: string;

beforeAll(async () => {
  server = await startHeadwater();
  receiver = await startReceiver();
  const { data } = await server.admin('POST', '/accounts', { name: 'another' });
  foreignKey = data.api_key;
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const makeWebhook = async (url = 'https://example.com/hook') =>
  (await server.api('POST', '/webhooks', { url })).data.id;

interface Row {
  status: string;
  errorClass?: string;
  leasedBy?: string;
}

/** Rows as attempts leave them, the oldest first; answers their ids. */
async function addRows(webhookId: string, rows: readonly Row[]): Promise<string[]> {
  const ids = rows.map((_, i) => `${idFloor('delivery', FIRST_MS + i * 1_000)}${newId('delivery').slice(-12)}`);
  for (const [i, { status, errorClass = null, leasedBy = null }] of rows.entries()) {
    await server.sql`
      insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status, error_class, leased_by, next_attempt_at)
      values (${ids[i]!}, ${server.accountId}, ${webhookId}, ${EMITTER}, ${FIRST_MS + i * 1_000}, 0, ${status}, ${errorClass}, ${leasedBy},
        now() + interval '1 hour')`;
  }
  return ids;
}

const ROWS: readonly Row[] = [
  { status: 'delivered' },
  { status: 'failed', errorClass: 'timeout' },
  { status: 'failed', errorClass: 'http_5xx' },
  { status: 'failed' },
  { status: 'cancelled' },
  { status: 'pending' },
  // Held by a node that is not there: nothing sends it while the test looks.
  { status: 'pending', leasedBy: 'node_elsewhere' },
];

test.each<[query: Record<string, unknown>, found: number[]]>([
  [{}, [6, 5, 4, 3, 2, 1, 0]],
  [{ status: 'failed' }, [3, 2, 1]],
  [{ status: 'failed,cancelled' }, [4, 3, 2, 1]],
  [{ status: 'pending' }, [5]],
  [{ status: 'sending' }, [6]],
  [{ status: '' }, [6, 5, 4, 3, 2, 1, 0]],
  [{ error_class: 'timeout,http_5xx' }, [2, 1]],
  [{ error_class: 'refused' }, []],
  [{ status: 'failed', since: FIRST_MS + 2_000 }, [3, 2]],
  [{ since: isoOf(1).replace('.000Z', 'Z'), until: isoOf(3) }, [2, 1]],
  [{ until: '2026-01-01' }, []],
  [{ emit_id: `${EMITTER}-${FIRST_MS + 4_000}-0` }, [4]],
  [{ emit_id: `dc_else-${FIRST_MS + 4_000}-0` }, []],
])('a list of deliveries by %j has those and no others, of one webhook and of all', async (query, found) => {
  await server.sql`delete from webhooks`;
  const id = await makeWebhook();
  const ids = await addRows(id, ROWS);
  const expected = found.map((i) => ids[i]);
  for (const path of [`/webhooks/${id}/deliveries`, '/deliveries']) {
    const answer = await server.api('GET', path, { ...query, limit: 100 });
    expect(answer.status).toBe(200);
    expect(answer.data.map((row: { id: string }) => row.id)).toEqual(expected);
    expect(JSON.parse(answer.text).page_info).toMatchObject({ count: found.length, total_count: found.length });
  }
});

test('several values of a filter may also be given again and again', async () => {
  const id = await makeWebhook();
  await addRows(id, ROWS);
  const response = await fetch(`${server.url}/v1/webhooks/${id}/deliveries?status=failed&status=cancelled&limit=100`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const { data } = (await response.json()) as { data: unknown[] };
  expect(data).toHaveLength(4);
});

test('a filtered list of all webhooks goes on from page to page, and back, without gap or repetition', async () => {
  await server.sql`delete from webhooks`;
  for (let i = 0; i < 3; i++) await addRows(await makeWebhook(), ROWS);
  const list = async (query: Record<string, unknown>) => {
    const { data, text } = await server.api('GET', '/deliveries', { status: 'failed,cancelled', ...query });
    return { ids: data.map((row: { id: string }) => row.id) as string[], info: JSON.parse(text).page_info };
  };
  const all = await list({ limit: 100 });
  expect(all.ids).toHaveLength(12);
  expect(all.ids).toEqual(all.ids.toSorted().toReversed());
  const pages = [await list({ limit: 5 })];
  for (const _ of [1, 2]) pages.push(await list({ limit: 5, after: pages.at(-1)?.info.end_cursor }));
  expect(pages.flatMap(({ ids }) => ids)).toEqual(all.ids);
  const back = await list({ limit: 5, before: pages[2]?.info.start_cursor });
  expect(back.ids).toEqual(pages[1]?.ids);
});

test('a list of all webhooks has each delivery once both ways, where some have thousands and some come at once', async () => {
  await server.sql`delete from webhooks`;
  const [webhooks, rows] = [250, 3 * LIMITS.maxScannedDeliveries];
  const ids = Array.from({ length: webhooks }, () => newId('webhook'));
  await server.sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    select id, ${server.accountId}, (select user_id from api_keys where account_id = ${server.accountId} limit 1),
      'http://127.0.0.1:2/', 'raw', 'sealed' from unnest(${ids}::text[]) as h(id)`;
  // Most of one webhook, at the end a fan-out to all within a millisecond.
  const floors = Array.from({ length: 300 }, (_, n) => idFloor('delivery', FIRST_MS + n * n * 10));
  await server.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    select (${floors}::text[])[1 + n * 300 / ${rows}::int4] || lpad(n::text, 12, '0'), ${server.accountId},
      (${ids}::text[])[case when n < ${rows - 10 * webhooks}::int4 and n % 3 > 0 then 1 else 1 + n % ${webhooks}::int4 end],
      ${EMITTER}, ${FIRST_MS}::int8, n, case when n % 97 = 1 then 'cancelled' else 'delivered' end
    from generate_series(0, ${rows - 1}::int4) n`;
  await server.sql`analyze deliveries`;
  const list = async (query: Record<string, unknown>) => {
    const { data, text } = await server.api('GET', '/deliveries', { limit: 100, ...query });
    return { ids: data.map((row: { id: string }) => row.id) as string[], info: JSON.parse(text).page_info };
  };
  const truth = await server.sql<{ id: string }[]>`
    select id from deliveries where status = 'cancelled' and webhook_id = any(${ids}::text[]) order by id desc`;
  const expected = truth.map(({ id }) => id);
  const [down, up]: [string[], string[]] = [[], []];
  let last = '';
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page = await list({ status: 'cancelled', ...(next === '' ? {} : { after: next }) });
    down.push(...page.ids);
    last = next;
    next = page.info.end_cursor ?? undefined;
  }
  expect(down).toEqual(expected);
  for (let next: string | undefined = last; next !== undefined; ) {
    const page = await list({ status: 'cancelled', before: next });
    up.unshift(...page.ids);
    next = page.info.start_cursor ?? undefined;
  }
  expect(up).toEqual(expected.slice(0, up.length));
  expect(expected.length - up.length).toBeLessThanOrEqual(100);
  // Without a filter each page is full.
  const newest = await server.sql<{ id: string }[]>`
    select id from deliveries where webhook_id = any(${ids}::text[]) order by id desc limit 300`;
  const pages = [await list({})];
  for (const _ of [1, 2]) pages.push(await list({ after: pages.at(-1)?.info.end_cursor }));
  expect(pages.flatMap((page) => page.ids)).toEqual(newest.map(({ id }) => id));
  expect((await list({ before: pages[2]?.info.start_cursor })).ids).toEqual(pages[1]?.ids);
});

test.each<[path: string, query: Record<string, unknown>, says: RegExp]>([
  ['deliveries', { status: 'lost' }, /status .*"lost".*pending, sending, held, delivered, failed, dropped, cancelled/],
  ['deliveries', { status: 'failed,done' }, /status .*"done"/],
  ['deliveries', { error_class: 'http_6xx' }, /error_class .*http_3xx, http_4xx, http_5xx, timeout/],
  ['deliveries', { since: 'yesterday' }, /since must be a time/],
  ['deliveries', { until: '2026-13-45' }, /until must be a time/],
  ['deliveries', { since: '-1' }, /since must be a time/],
  ['deliveries', { emit_id: 'x' }, /emit_id must be an emit_id/],
  ['deliveries', { after: 'nonsense' }, /after is not a cursor/],
  ['runs', { status: 'lost' }, /status .*abandoned/],
])('GET of %s with %j answers 400 and names the known ones', async (path, query, says) => {
  const id = await makeWebhook();
  for (const list of path === 'runs' ? ['/runs'] : ['/deliveries', `/webhooks/${id}/deliveries`]) {
    const { status, text } = await server.api('GET', list, query);
    expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringMatching(says)]);
  }
});

test('one delivery is found by its id, with its attempts, and by its owner alone', async () => {
  receiver.answer = { status: 503, body: 'try later' };
  const id = await makeWebhook(receiver.url);
  const source = await server.deploy(EMITS);
  await server.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  await fetch(source.endpoint, { method: 'POST' });
  const [listed] = await eventually(async () => {
    const { data } = await server.api('GET', '/deliveries', { webhook_id: id, error_class: 'http_5xx' });
    return data.length > 0 && data;
  });
  const one = await server.api('GET', `/deliveries/${listed.id}`);
  expect(one.data).toEqual(listed);
  expect(one.data).toMatchObject({
    webhook_id: id,
    emitter_id: source.id,
    error_class: 'http_5xx',
    attempts: [{ status_code: 503, response: 'try later' }],
  });
  const foreign = server.as(foreignKey);
  expect((await foreign('GET', `/deliveries/${listed.id}`)).status).toBe(404);
  expect((await foreign('GET', '/deliveries')).data).toEqual([]);
  expect((await foreign('GET', '/deliveries', { webhook_id: id })).status).toBe(404);
  expect((await foreign('GET', `/webhooks/${id}/deliveries`)).status).toBe(404);
  expect((await foreign('POST', `/webhooks/${id}/redeliver`, { dry_run: true })).status).toBe(404);
  for (const unknown of ['dlv_none', 'x%00', '%27']) {
    expect((await server.api('GET', `/deliveries/${unknown}`)).status).toBe(404);
  }
  await server.api('DELETE', `/webhooks/${id}`);
  expect((await server.api('GET', `/deliveries/${listed.id}`)).status).toBe(404);
});

test('a first attempt that is under way is `sending`, and is not due in the past', async () => {
  const held = Promise.withResolvers<ServerResponse>();
  const silent = createServer((_, response) => held.resolve(response)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const id = await makeWebhook(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const source = await server.deploy(EMITS);
  await server.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  const { headers } = await fetch(source.endpoint, { method: 'POST' });
  const response = await held.promise;
  const [sending] = (await server.api('GET', `/webhooks/${id}/deliveries`, { status: 'sending' })).data;
  expect(sending).toMatchObject({ status: 'sending', attempts: [], next_attempt_at: null, error_class: null });
  const trace = await server.api('GET', `/traces/${headers.get('x-headwater-run')}`);
  expect(trace.data.runs[0].events[0].listeners).toMatchObject([
    { outcome: 'delivery', delivery: { id: sending.id, status: 'sending', next_attempt_at: null } },
  ]);
  expect((await server.api('POST', `/webhooks/${id}/redeliver`, { delivery_id: sending.id })).status).toBe(409);
  response.end();
  await eventually(async () => (await server.api('GET', `/deliveries/${sending.id}`)).data.status === 'delivered');
  silent.close();
});

test.each<[choice: Record<string, unknown>, count: number]>([
  [{}, 3],
  [{ error_class: 'timeout' }, 1],
  [{ since: FIRST_MS + 2_000 }, 2],
  [{ since: isoOf(1), until: isoOf(3) }, 2],
  [{ until: FIRST_MS }, 0],
])('failures chosen by %j are counted first, then made due again, and no others', async (choice, count) => {
  const id = await makeWebhook();
  const ids = await addRows(id, ROWS);
  await server.sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${EMITTER}, ${FIRST_MS}::int8 + n * 1000, 0, ${server.accountId}, '', '1' from generate_series(0, ${ROWS.length - 1}::int4) n
    on conflict do nothing`;
  // No receiver listens, so due deliveries stay visible.
  await server.sql`update webhooks set url = 'http://127.0.0.1:1/' where id = ${id}`;
  const dry = await server.api('POST', `/webhooks/${id}/redeliver`, { ...choice, dry_run: true });
  expect(dry.data).toEqual({ count });
  expect((await server.api('GET', `/webhooks/${id}/deliveries`, { status: 'failed' })).data).toHaveLength(3);
  const made = await server.api('POST', `/webhooks/${id}/redeliver`, choice);
  expect(made.data).toEqual({ count });
  const left = await server.api('GET', `/webhooks/${id}/deliveries`, {
    status: 'delivered,failed,cancelled',
    limit: 100,
  });
  expect(left.data.filter((row: { id: string }) => ids.includes(row.id))).toHaveLength(ROWS.length - 2 - count);
});

test.each<[body: Record<string, unknown>, says: RegExp]>([
  [{ error_class: 'slow' }, /error_class .*"slow".*timeout/],
  [{ since: 'soon' }, /since must be a time/],
  [{ delivery_id: 'dlv_x', dry_run: true }, /dry_run does not go with delivery_id/],
  [{ status: 'pending' }, /status/],
])('a redelivery of %j is refused, and nothing becomes due', async (body, says) => {
  const id = await makeWebhook();
  const { status, text } = await server.api('POST', `/webhooks/${id}/redeliver`, body);
  expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringMatching(says)]);
});

test('a filter that no delivery passes looks through a bounded number, says how far, and goes on to the end', async () => {
  await server.sql`delete from webhooks`;
  const id = await makeWebhook();
  const rows = LIMITS.maxScannedDeliveries + 1_000;
  await server.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    select ${idFloor('delivery', FIRST_MS)} || lpad(n::text, 12, '0'), ${server.accountId}, ${id}, ${EMITTER}, ${FIRST_MS}::int8, n,
      case when n = 1 then 'cancelled' else 'delivered' end from generate_series(1, ${rows}::int4) n`;
  const query = { status: 'cancelled', limit: 10 };
  const first = await server.api('GET', `/webhooks/${id}/deliveries`, query);
  const { page_info: info } = JSON.parse(first.text);
  expect([first.data, info.scanned_until, info.total_count]).toEqual([[], FIRST_MS, 0]);
  const second = await server.api('GET', `/webhooks/${id}/deliveries`, { ...query, after: info.end_cursor });
  expect(second.data).toMatchObject([{ status: 'cancelled' }]);
  expect(JSON.parse(second.text).page_info).not.toHaveProperty('scanned_until');
});
