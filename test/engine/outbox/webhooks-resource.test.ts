import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { Principal, Subscriptions, WebhookRecord, Webhooks } from '../../../engine/src/contract/engine.ts';
import type { DueDelivery } from '../../../engine/src/outbox/deliveries/due-delivery.ts';
import { readSecret } from '../../../engine/src/outbox/transports/webhook/sign.ts';
import { createSubscriptions } from '../../../engine/src/outbox/subscriptions/subscriptions.ts';
import { createWebhooks } from '../../../engine/src/outbox/webhooks/webhooks.ts';
import { claimDeliveries } from '../../../engine/src/outbox/deliveries/claim-deliveries.sql.ts';
import { roomWith } from '../../support/account-room.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startReceiver } from '../../support/receiver.ts';

let world: DeliveryWorld;
let webhooks: Webhooks;
let subscriptions: Subscriptions;
let who: Principal;
let other: Principal;

beforeAll(async () => {
  world = await createDeliveryWorld();
  webhooks = createWebhooks({ db: world.database.db, sealer: world.sealer, room: roomWith() });
  subscriptions = createSubscriptions({ db: world.database.db, room: roomWith() });
  who = await world.account();
  other = await world.account();
});
afterAll(() => world.stop());
afterEach(async () => {
  await world.database.db.sql`delete from webhooks`;
});

const url = 'https://example.com/hook';

async function failure(promise: Promise<unknown>): Promise<{ code: string; paths: string[] }> {
  const error = await promise.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HeadwaterError)) throw error;
  return { code: error.code, paths: error.fields.map((field) => field.path) };
}

test('a webhook comes back as it was made, with a secret that signs', async () => {
  const made = await webhooks.create(who, { url, name: 'Orders', description: 'All of them', format: 'envelope' });
  expect(made).toMatchObject({
    url,
    name: 'Orders',
    description: 'All of them',
    format: 'envelope',
    active: true,
    userId: who.userId,
  });
  expect(made.id).toMatch(/^wh_/);
  expect(readSecret(made.secret).symmetricKeySize).toBe(32);
  expect(await webhooks.get(who, made.id)).toEqual(made);
  const [row] = await world.database.db.sql<{ secret: string }[]>`select secret from webhooks where id = ${made.id}`;
  expect(row?.secret).not.toContain(made.secret.slice(6, 20));
});

test('a webhook needs nothing but a URL, and no two have the same secret', async () => {
  const [a, b] = [await webhooks.create(who, { url }), await webhooks.create(who, { url })];
  expect(a).not.toHaveProperty('name');
  expect(a.format).toBe('raw');
  expect(a.secret).not.toBe(b.secret);
});

test.each([
  ['', 'url'],
  ['example.com/hook', 'url'],
  ['ftp://example.com/', 'url'],
  ['javascript:alert(1)', 'url'],
  ['https://user:pass@example.com/', 'url'],
  ['http://', 'url'],
  [`https://example.com/${'x'.repeat(LIMITS.maxUrlChars)}`, 'url'],
  ['https://example.com/\0', 'url'],
])('the URL %j is refused by name', async (bad, path) => {
  expect(await failure(webhooks.create(who, { url: bad }))).toEqual({ code: 'INVALID_REQUEST', paths: [path] });
});

test('everything that is wrong is told at once', async () => {
  const input = {
    url: 'nowhere',
    name: 'x'.repeat(LIMITS.maxNameChars + 1),
    description: 'a\0b',
    format: 'xml' as 'raw',
  };
  expect((await failure(webhooks.create(who, input))).paths).toEqual(['url', 'name', 'description', 'format']);
});

test('an update changes what it names and nothing else', async () => {
  const made = await webhooks.create(who, { url, name: 'a', description: 'b' });
  const changed = await webhooks.update(who, made.id, { name: '', url: 'http://other.example:8080/x?y' });
  expect(changed).toMatchObject({
    id: made.id,
    url: 'http://other.example:8080/x?y',
    description: 'b',
    secret: made.secret,
  });
  expect(changed).not.toHaveProperty('name');
  expect(changed.updatedAt.getTime()).toBeGreaterThanOrEqual(made.updatedAt.getTime());
  expect(await failure(webhooks.update(who, made.id, { url: 'x' }))).toMatchObject({ code: 'INVALID_REQUEST' });
  expect(await webhooks.get(who, made.id)).toEqual(changed);
});

test("another account's webhook is not found by any request", async () => {
  const theirs = await webhooks.create(other, { url });
  const page = { limit: 10 };
  for (const attempt of [
    () => webhooks.get(who, theirs.id),
    () => webhooks.update(who, theirs.id, { active: false }),
    () => webhooks.delete(who, theirs.id),
    () => webhooks.deliveries(who, theirs.id, page),
    () => webhooks.get(who, 'wh_\0'),
    () => subscriptions.create(who, { emitterId: 'dc_*', listenerId: theirs.id }),
  ]) {
    expect((await failure(attempt())).code).toBe('NOT_FOUND');
  }
  expect((await webhooks.list(who, page)).items).toEqual([]);
  expect(await webhooks.get(other, theirs.id)).toEqual(theirs);
});

test('a list is paged newest first, and going through it forth and back shows each entry once', async () => {
  const { sql } = world.database.db;
  const made: string[] = [];
  for (let i = 0; i < 11; i++) made.unshift((await webhooks.create(who, { url, name: String(i) })).id);
  await webhooks.create(other, { url });
  // Three within one millisecond, two within one microsecond.
  const at = '2026-01-01T00:00:00.000';
  for (const [i, micros] of [
    [8, '300'],
    [9, '200'],
    [10, '200'],
  ] as const) {
    await sql`update webhooks set created_at = ${`${at}${micros}Z`}::text::timestamptz where id = ${made[i]!}`;
  }
  const rest = made.splice(9).sort().toReversed();
  made.push(...rest);
  const seen: string[] = [];
  let after: string | undefined;
  let page = await webhooks.list(who, { limit: 3 });
  for (;;) {
    expect(page.total).toBe(11);
    seen.push(...page.items.map((item) => item.id));
    if (page.items.length < 3) break;
    after = page.endCursor;
    page = await webhooks.list(who, { limit: 3, ...(after === undefined ? {} : { after }) });
  }
  expect(seen).toEqual(made);
  const back = await webhooks.list(who, { limit: 4, before: page.startCursor! });
  expect(back.items.map((item) => item.id)).toEqual(made.slice(5, 9));
  const top = await webhooks.list(who, { limit: 100, before: back.startCursor! });
  expect(top.items.map((item) => item.id)).toEqual(made.slice(0, 5));
});

test('an entry that is added meanwhile does not shift the pages, and an empty page has no cursors', async () => {
  const old = await webhooks.create(who, { url });
  const first = await webhooks.list(who, { limit: 1 });
  await webhooks.create(who, { url });
  const second = await webhooks.list(who, { limit: 1, after: first.endCursor! });
  expect(first.items[0]?.id).toBe(old.id);
  expect(second).toEqual({ items: [], total: 2 });
});

test.each([
  { limit: 0 },
  { limit: 101 },
  { limit: 1.5 },
  { limit: 1, after: 'nonsense' },
  { limit: 1, before: 'bm90IG9uZQ' },
])('the page %j is refused by name', async (page) => {
  const path = Object.keys(page).at(-1)!;
  expect(await failure(webhooks.list(who, page))).toEqual({ code: 'INVALID_REQUEST', paths: [path] });
});

test('a webhook that is stopped gets nothing more, and all of it once it is started', async () => {
  const webhook = await webhooks.create(who, { url });
  await world.emit(webhook, who, 2, null);
  await webhooks.update(who, webhook.id, { active: false });
  await world.emit(webhook, who, 1, null);
  await webhooks.update(who, webhook.id, { name: 'still stopped' });
  expect(await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 10)).toEqual([]);
  const page = await webhooks.deliveries(who, webhook.id, { limit: 10 });
  expect(page.items.map(({ status }) => status)).toEqual(['held', 'held', 'held']);
  await webhooks.update(who, webhook.id, { active: true });
  expect(await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 10)).toHaveLength(3);
});

test('deliveries that a commit adds to a webhook as it is deleted are cancelled when their turn comes', async () => {
  const webhook = await webhooks.create(who, { url });
  const due = await world.emit(webhook, who, 1, null);
  await webhooks.delete(who, webhook.id);
  const { sql } = world.database.db;
  await sql`update deliveries set status = 'pending', attempts = '[]' where id = ${due[0]!.id}`;
  expect(await claimDeliveries(sql, 'node_a', webhook.id, 10)).toEqual([]);
  const [row] = await world.rows(webhook.id);
  expect(row).toMatchObject({ status: 'cancelled', leased_by: null });
});

test('an attempt in flight when its webhook is deleted is recorded with its outcome', async () => {
  const receiver = await startReceiver();
  const deleted = Promise.withResolvers<void>();
  receiver.answer = (request) => ({ after: deleted.promise, status: request.url === '/ok' ? 200 : 500 });
  const deliverer = world.deliverer({ node: 'node_a' });
  const hooks: WebhookRecord[] = [];
  for (const path of ['/ok', '/bad']) {
    const webhook = await webhooks.create(who, { url: `${receiver.url}${path}` });
    deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
    hooks.push(webhook);
  }
  await receiver.until(2);
  for (const webhook of hooks) await webhooks.delete(who, webhook.id);
  deleted.resolve();
  for (const [i, status] of ['delivered', 'cancelled'].entries()) {
    const [row] = await eventually(async () => {
      const rows = await world.rows(hooks[i]!.id);
      return rows[0]?.leased_by === null && rows;
    });
    expect(row).toMatchObject({ status, attempt_count: 1 });
    expect(row?.attempts.at(-1)).toMatchObject({ status_code: status === 'delivered' ? 200 : 500 });
  }
  await receiver.stop();
});

test('deliveries are listed newest first, page by page, each with its outcome', async () => {
  const webhook = await webhooks.create(who, { url });
  const due: DueDelivery[] = [];
  for (let i = 0; i < 5; i++) due.unshift(...(await world.emit(webhook, who, 1, null)));
  // Ids of one millisecond are in no order; the list's is that of the ids.
  const ids = due
    .map((delivery) => delivery.id)
    .sort()
    .toReversed();
  const first = await webhooks.deliveries(who, webhook.id, { limit: 3 });
  const second = await webhooks.deliveries(who, webhook.id, { limit: 3, after: first.endCursor! });
  expect([...first.items, ...second.items].map((item) => item.id)).toEqual(ids);
  expect([first.total, second.items.length]).toEqual([5, 2]);
  const record =
    first.items.find((item) => item.id === due[0]?.id) ?? second.items.find((item) => item.id === due[0]?.id);
  expect(record).toMatchObject({
    webhookId: webhook.id,
    emitterId: due[0]?.emitterId,
    eventId: `${due[0]?.indexedAtMs}-${due[0]?.seq}`,
    status: 'pending',
    attempts: [],
  });
  expect(record?.nextAttemptAt).toBeInstanceOf(Date);
});

test('the list of deliveries stops counting, so that a long one costs no more than a short one', async () => {
  const { id } = await webhooks.create(who, { url });
  await world.database.db.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    select 'dlv_' || lpad(n::text, 20, '0'), ${who.accountId}, ${id}, 'dc_any', n, 0, 'delivered'
    from generate_series(1, ${LIMITS.maxCountedEvents + 5}) n`;
  const page = await webhooks.deliveries(who, id, { limit: 2 });
  expect([page.items.length, page.total]).toEqual([2, LIMITS.maxCountedEvents]);
});
