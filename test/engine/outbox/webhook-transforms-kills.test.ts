import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { longRun } from '../../support/long-run.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { deploy, killNode, post, startServer, type TestServer } from '../../support/server.ts';

const EVENTS = 40;
const MANY = `export default { name: 'Many', version: '1', props: { http: '$.interface.http' },
  run({ body }) { for (let n = 0; n < body.count; n++) this.$emit({ n }); } };`;
/** It takes a while, so that a kill finds some that run, and every fifth event is dropped. */
const SLOW = `export default { name: 'Slow', version: '1', type: 'transform',
  async run({ body, event }) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return body.n % 5 === 0 ? { drop: 'a fifth' } : { body: { changed: body.n, id: event.id } };
  } };`;

let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
});
afterAll(async () => {
  await receiver.stop();
  await database.drop();
});

const start = () => startServer({ databaseUrl: database.url, ownSession: true });

async function killAndStart(server: TestServer): Promise<TestServer> {
  process.kill(-server.process.pid, 'SIGKILL');
  await killNode(server, database.db.sql);
  return start();
}

test('a node that is killed while transforms run or are sent loses none, sends none unchanged and none that was dropped', async () => {
  const { sql } = database.db;
  receiver.answer = { delayMs: 20 };
  let server = await start();
  const source = await deploy(server, MANY);
  const { id: transform_id } = (await server.api('POST', '/components', { component_code: SLOW })).body.data;
  const made = await server.api('POST', '/webhooks', { url: receiver.url, transform_id, max_in_flight: 4 });
  const { id: webhookId, secret } = made.body.data;
  await server.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhookId });
  await post(source.endpoint, { count: EVENTS });
  const ended = async () =>
    (await sql`select from deliveries where webhook_id = ${webhookId} and status <> 'pending'`).length;
  for (let kills = 0; kills < longRun(1, 2); kills++) {
    const before = await ended();
    await eventually(async () => (await ended()) > before, { timeoutMs: 60_000, what: 'deliveries to go on' });
    server = await killAndStart(server);
  }
  await eventually(async () => (await ended()) === EVENTS, { timeoutMs: 120_000, what: 'the end of all deliveries' });
  await server.stop();
  const statuses = await sql`
    select status, count(*)::int as count from deliveries where webhook_id = ${webhookId} group by status order by status`;
  expect([...statuses]).toEqual([
    { status: 'delivered', count: EVENTS - EVENTS / 5 },
    { status: 'dropped', count: EVENTS / 5 },
  ]);
  const bodies = new Map<string, string>();
  for (const { body, headers } of receiver.requests) {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    const id = headers['webhook-id'] as string;
    // The same event has the same body each time.
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
  const numbers = [...bodies.values()].map((body) => JSON.parse(body).changed as number);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: EVENTS }, (_, n) => n).filter((n) => n % 5));
});
