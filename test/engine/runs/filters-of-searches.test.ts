import { afterAll, beforeAll, expect, test } from 'vitest';
import { retryPending } from '../../../engine/src/outbox/deliveries/retry-pending.sql.ts';
import { newId } from '../../../shared/src/index.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const EMITTER = `export default { name: 'Emitter', version: '1', props: { http: '$.interface.http' },
  run({ body: { from, to, pad } }) { for (let n = from; n < to; n++) this.$emit({ n, pad: 'x'.repeat(pad) }); } };`;

async function emitter(count: number, pad = 0): Promise<DeployedSource> {
  const source = await hw.deploy(EMITTER);
  const headers = { 'content-type': 'application/json' };
  // The output of one run has a bound.
  const atOnce = pad === 0 ? count : 5;
  for (let from = 0; from < count; from += atOnce) {
    const body = JSON.stringify({ from, to: Math.min(count, from + atOnce), pad });
    await fetch(source.endpoint, { method: 'POST', headers, body });
    await hw.untilIdle();
  }
  return source;
}

const search = (source: DeployedSource, filter: object | string, more: object = {}) =>
  hw.api('GET', '/events', {
    emitter_id: source.id,
    filter: typeof filter === 'string' ? filter : JSON.stringify(filter),
    expand: 'event',
    ...more,
  });
const numbers = (events: Json[]) => events.map(({ event }) => event.n as number);

test('a search with a filter finds the events that match, newest first, in pages', async () => {
  const source = await emitter(250);
  const filter = { n: { $gte: 10, $lt: 240 }, $not: { n: { $in: [100, 101] } } };
  const wanted = Array.from({ length: 250 }, (_, n) => n)
    .filter((n) => n >= 10 && n < 240 && n !== 100 && n !== 101)
    .toReversed();
  const found: number[] = [];
  let after: string | undefined;
  for (let page = 0; page < 20; page++) {
    const answer: Json = JSON.parse((await search(source, filter, { limit: 50, ...(after && { after }) })).text);
    found.push(...numbers(answer.data));
    if (answer.data.length < 50 && answer.page_info.scanned_until === undefined) break;
    after = answer.page_info.end_cursor;
  }
  expect(found).toEqual(wanted);
  expect((await search(source, { n: 5_000 })).data).toEqual([]);
});

test('a search with a filter reads so much data, says how far back, and goes on from there', async () => {
  // Each of half a megabyte: what one page reads is less than all.
  const source = await emitter(90, 512 * 1024);
  const first = JSON.parse((await search(source, { n: 0 }, { expand: '' })).text);
  expect(first).toMatchObject({ data: [], page_info: { scanned_until: expect.any(Number) } });
  const second = JSON.parse((await search(source, { n: 0 }, { expand: '', after: first.page_info.end_cursor })).text);
  expect(second.data).toHaveLength(1);
  // A page that was looked at whole is shown as any other.
  expect(second.data[0].event_truncated).toBe(true);
  expect(numbers((await search(source, { n: 89 })).data)).toEqual([89]);
});

test('a filter in the query is refused where it is no JSON, or no filter', async () => {
  const source = await emitter(1);
  for (const [filter, path] of [
    ['{"n":', 'filter'],
    ['[]', 'filter'],
    ['{"n":{"$x":1}}', 'filter.n.$x'],
  ] as const) {
    const { status, text } = await search(source, filter);
    expect({ status, path: JSON.parse(text).errors[0].path }).toEqual({ status: 400, path });
  }
});

/** A webhook with pending deliveries of these events, of which each waits for a retry. */
async function waitingWebhook(source: DeployedSource): Promise<string> {
  const { id } = (await hw.api('POST', '/webhooks', { url: 'http://127.0.0.1:40009/' })).data;
  const events = await hw.sql<{ ms: number; seq: number }[]>`
    select indexed_at_ms as ms, seq from events where emitter_id = ${source.id} order by seq`;
  await hw.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, attempt_count, next_attempt_at)
    select d.id, ${hw.accountId}, ${id}, ${source.id}, d.ms, d.seq, 3, now() + interval '1 hour' + d.seq * interval '1 second'
    from unnest(
      ${events.map(({ ms }) => newId('delivery', ms))}::text[], ${events.map(({ ms }) => ms)}::int8[],
      ${events.map(({ seq }) => seq)}::int4[]
    ) as d(id, ms, seq)`;
  return id;
}

const dueNow = (webhookId: string) => hw.sql<{ n: number }[]>`
  select (e.data::jsonb ->> 'n')::int4 as n from deliveries d
  join events e on e.emitter_id = d.emitter_id and e.indexed_at_ms = d.indexed_at_ms and e.seq = d.seq
  where d.webhook_id = ${webhookId} and d.next_attempt_at < now() + interval '30 minutes' order by n`;

test('deliveries of events that match are tried again now, and the others keep their time', async () => {
  const source = await emitter(40);
  const webhook = await waitingWebhook(source);
  const filter = { n: { $gte: 35 } };
  const answer = await hw.api('POST', `/webhooks/${webhook}/retry`, { filter });
  expect(answer.data).toEqual({ count: 5 });
  expect((await dueNow(webhook)).map(({ n }) => n)).toEqual([35, 36, 37, 38, 39]);
  const { data: deliveries } = await hw.api('GET', `/webhooks/${webhook}/deliveries`, { limit: 100 });
  const ids = deliveries.slice(-10).map((one: Json) => one.id);
  const both = await hw.api('POST', `/webhooks/${webhook}/retry`, { filter: { n: { $lt: 20 } }, ids });
  expect(both.data.count).toBeLessThanOrEqual(10);
  const bad = await hw.api('POST', `/webhooks/${webhook}/retry`, { filter: { n: { $gt: [] } } });
  expect([bad.status, JSON.parse(bad.text).errors[0].path]).toEqual([400, 'filter.n.$gt']);
  expect((await hw.api('POST', `/webhooks/${webhook}/retry`, { filter, after: 'nonsense' })).status).toBe(400);
});

test('a retry goes on behind the part that it has searched', async () => {
  const source = await emitter(30);
  const webhook = await waitingWebhook(source);
  const { data: rows } = {
    data: await hw.sql<{ id: string; micros: number }[]>`
    select id, (extract(epoch from next_attempt_at) * 1000000)::int8 as micros from deliveries
    where webhook_id = ${webhook} order by next_attempt_at`,
  };
  const filter = JSON.stringify({ n: { $exist: true } });
  const retried = await retryPending(hw.sql, hw.accountId, webhook, { filter, after: rows[19] });
  expect(retried).toEqual({ count: 10 });
  expect((await dueNow(webhook)).map(({ n }) => n)).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
});
