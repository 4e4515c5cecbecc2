import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { deploy, post, startServer, subscribe, type TestServer } from '../../support/server.ts';

const MANY = `export default { name: "Many", version: "1", props: { http: "$.interface.http" },
  run(event) { for (let n = 0; n < event.body.count; n++) this.$emit({ n }); } };`;

/** Few enough that the node makes the rows and holds them; for more, the database makes them. */
const HELD = 400;
/** Without a change they take six seconds. */
const SOON_MS = 2_000;

let database: TestDatabase;
let one: TestServer;
let other: TestServer;
let receiver: Receiver;
let elsewhere: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
  [one, other] = await Promise.all([
    startServer({ databaseUrl: database.url }),
    // Without lanes: it sends deliveries that it has accepted, but none that it gave back.
    startServer({ databaseUrl: database.url, role: 'api' }),
  ]);
  // A node takes on deliveries of an account once it knows its limits.
  const first = await startReceiver();
  receiver = first;
  await post((await webhookOfMany()).endpoint, { count: 1 });
  await first.until(1);
  await first.stop();
});
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()]);
  await database.drop();
});
beforeEach(async () => {
  [receiver, elsewhere] = await Promise.all([startReceiver(), startReceiver()]);
});
afterEach(() => Promise.all([receiver.stop(), elsewhere.stop()]));

async function webhookOfMany() {
  const source = await deploy(one, MANY);
  const webhook = await subscribe(one, source.id, receiver.url);
  return { id: webhook.id, endpoint: other.url + new URL(source.endpoint).pathname };
}

const change = (id: string, with_: string) => one.api('PUT', `/webhooks/${id}?${with_}`);
const rows = (id: string, where = database.db.sql`true`) =>
  database.db.sql<{ status: string }[]>`select status from deliveries where webhook_id = ${id} and ${where}`;
const leased = async (id: string) => (await rows(id, database.db.sql`leased_by is not null`)).length;

/** A webhook with a slow receiver; the other node holds most of its deliveries. */
async function heldByOther() {
  const webhook = await webhookOfMany();
  receiver.answer = { delayMs: 500 };
  expect((await post(webhook.endpoint, { count: HELD })).status).toBe(200);
  await eventually(async () => (await rows(webhook.id)).length === HELD && receiver.requests.length > 0);
  expect(await leased(webhook.id)).toBeGreaterThan(HELD / 2);
  return webhook;
}

test.each([
  ['stopped', 'pending', (id: string) => change(id, 'active=false')],
  ['deleted', 'cancelled', (id: string) => one.api('DELETE', `/webhooks/${id}`)],
])(
  'a webhook that is %s through one node is sent nothing more by another, which keeps no leases of it',
  async (_, left, end) => {
    const { id } = await heldByOther();
    expect((await end(id)).status).toBeLessThan(300);
    const answeredAt = Date.now();
    await eventually(async () => (await leased(id)) === 0);
    expect(Math.max(...receiver.requests.map(({ at }) => at))).toBeLessThan(answeredAt + SOON_MS);
    expect(receiver.requests.length).toBeLessThan(HELD / 2);
    const ended = await rows(id);
    expect(ended.filter(({ status }) => status === left)).toHaveLength(HELD - receiver.requests.length);
  },
);

/**
 * Deliveries at both receivers once all are delivered. Throws if the old receiver got more than
 * those under way.
 */
async function arrived(id: string): Promise<number[]> {
  const changedAt = Date.now();
  await eventually(async () => (await rows(id)).every(({ status }) => status === 'delivered'));
  expect(Math.max(...receiver.requests.map(({ at }) => at))).toBeLessThan(changedAt + SOON_MS);
  expect(receiver.requests.length).toBeLessThan(HELD / 2);
  const bodies = [...receiver.requests, ...elsewhere.requests].map(({ body }) => (JSON.parse(body) as { n: number }).n);
  return bodies.toSorted((a, b) => a - b);
}

test("a URL set through one node holds for deliveries in another's memory, and each event arrives once", async () => {
  const { id } = await heldByOther();
  await change(id, `url=${encodeURIComponent(elsewhere.url)}`);
  expect(await arrived(id)).toEqual(Array.from({ length: HELD }, (_, n) => n));
});

test('a node that may have missed a change while it did not listen reads its held deliveries anew', async () => {
  const { id } = await heldByOther();
  const { sql } = database.db;
  await sql`update webhooks set url = ${elsewhere.url} where id = ${id}`;
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike '%listen%' and pid <> pg_backend_pid()`;
  expect(await arrived(id)).toEqual(Array.from({ length: HELD }, (_, n) => n));
});

test('deliveries that a commit made for the old URL go to the new one if the URL changes meanwhile', async () => {
  const { id, endpoint } = await webhookOfMany();
  const probe = await deploy(one, MANY);
  await database.db.sql.begin(async (tx) => {
    // A commit writes deliveries after it has read the listeners.
    await tx`lock table deliveries in share mode`;
    expect((await post(endpoint, { count: 5 })).status).toBe(200);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    await change(id, `url=${encodeURIComponent(elsewhere.url)}`);
    // The other node hears changes in order: when it knows this later change, it knows the earlier
    // one too.
    await one.api('PUT', `/sources/${probe.id}`, { active: false });
    const status = async () => (await post(other.url + new URL(probe.endpoint).pathname, { count: 0 })).status;
    await eventually(async () => (await status()) === 404);
  });
  await elsewhere.until(5);
  expect(receiver.requests).toEqual([]);
});
