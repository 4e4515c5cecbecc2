import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts';
import { API_KEY, killNode, startServer, type TestServer } from '../support/server.ts';

const EVENTS = 30;

let database: TestDatabase;
let receiver: Receiver;
/** The first takes requests and delivers nothing; the second, which does, is killed. */
let [stays, dies]: TestServer[] = [];
let sourceId: string;

const start = () => startServer({ databaseUrl: database.url, ownSession: true });

beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
  receiver.answer = () => ({ delayMs: 10 });
  stays = await startServer({ databaseUrl: database.url, role: 'api' });
  dies = await start();
  sourceId = (await stays.api('POST', '/events', { data: 'first' })).body.data.source_id;
});
afterAll(async () => {
  await Promise.all([stays?.stop(), dies?.stop()]);
  await receiver.stop();
  await database.drop();
});

async function kill(): Promise<void> {
  const node = dies as TestServer;
  process.kill(-node.process.pid, 'SIGKILL');
  await killNode(node, database.db.sql);
}

async function listener(path: string, eventName: string, settings: object = {}): Promise<string> {
  const api = (stays as TestServer).api;
  const made = await api('POST', '/webhooks', { url: `${receiver.url}${path}`, ...settings });
  const { id } = made.body.data as { id: string };
  const subscription = { emitter_id: sourceId, listener_id: id, event_name: eventName };
  expect((await api('POST', '/subscriptions', subscription)).status).toBe(200);
  return id;
}

const arrived = (path: string) => receiver.requests.filter(({ url }) => url === path);
const numberOf = ({ body }: ReceivedRequest) => (JSON.parse(body) as { n: number }).n;

/** Each message has one id, and each id one message, however often it came. */
function expectSameIds(requests: readonly ReceivedRequest[], count: number): void {
  const pairs = new Set(requests.map((one) => `${numberOf(one)} ${String(one.headers['webhook-id'])}`));
  const ids = new Set(requests.map(({ headers }) => headers['webhook-id']));
  expect([pairs.size, ids.size, new Set(requests.map(numberOf)).size]).toEqual([count, count, count]);
}

test('held events of an ordered webhook arrive in order, with the same ids, though its nodes are killed', async () => {
  const id = await listener('/held', 'held', { ordering: 'fifo' });
  const { api } = stays as TestServer;
  expect((await api('PUT', `/webhooks/${id}`, { active: false })).status).toBe(200);
  for (let n = 1; n <= EVENTS; n++) await api('POST', '/events', { event_name: 'held', data: { n } });
  await kill();
  expect(arrived('/held')).toEqual([]);
  dies = await start();
  expect((await api('PUT', `/webhooks/${id}`, { active: true })).status).toBe(200);
  await eventually(() => arrived('/held').length >= EVENTS / 3, { timeoutMs: 60_000, what: 'some of them' });
  await kill();
  dies = await start();
  const isOver = () => new Set(arrived('/held').map(numberOf)).size === EVENTS;
  await eventually(isOver, { timeoutMs: 60_000, what: 'all of them' });
  const order = arrived('/held').map(numberOf);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expectSameIds(arrived('/held'), EVENTS);
});

test('two nodes that are sent the same at once carry it out once', async () => {
  const nodes = [stays, dies] as TestServer[];
  const event = { id: 'twice', event_name: 'twice', data: 1 };
  const published = await Promise.all(nodes.map(({ api }) => api('POST', '/events', event)));
  expect(published.map(({ status }) => status)).toEqual([200, 200]);
  const duplicates = published.filter(({ body }) => body.data.events[0].duplicate === true);
  expect(duplicates).toHaveLength(1);
  const [first, second] = published.map(({ body }) => body.data.events[0].id);
  expect(second).toBe(first);

  const make = ({ url }: TestServer) =>
    fetch(`${url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', 'idempotency-key': 'made' },
      body: JSON.stringify({ url: `${receiver.url}/made`, name: 'made once' }),
    });
  // The one that came second is told to wait, or has the answer of the first.
  const made = await Promise.all(nodes.flatMap((node) => [make(node), make(node)]));
  for (const { status } of made) expect([200, 409]).toContain(status);
  const answers = await Promise.all(nodes.map(async (node) => (await make(node)).text()));
  expect(answers[1]).toBe(answers[0]);
  const rows = await database.db.sql`select from webhooks where name = 'made once'`;
  expect(rows).toHaveLength(1);
});

const PUBLISH_FOR_MS = 60_000;
const PAUSE_MS = 50;

/** Sends it until a node has answered: to another one where the first does not. */
async function publish(n: number): Promise<number> {
  const untilMs = performance.now() + PUBLISH_FOR_MS;
  let last = 'nothing';
  for (let tries = 0; performance.now() < untilMs; tries++) {
    const { url } = (tries % 2 === 0 ? dies : stays) as TestServer;
    const answer = await fetch(`${url}/v1/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': `publish-${n}`,
      },
      body: JSON.stringify({ id: `e-${n}`, event_name: 'published', data: { n } }),
    }).catch(() => undefined);
    if (answer !== undefined && answer.status < 500 && answer.status !== 409) return answer.status;
    if (answer?.status === 409 && !answer.headers.has('retry-after')) return publishWithoutKey(n);
    if (answer !== undefined) last = `${answer.status} ${await answer.text()}`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`Event ${n} was not taken in ${PUBLISH_FOR_MS} ms; the last answer was ${last}`);
}

/** The node that had the key died: whether it had stored the event is asked by the event's id. */
async function publishWithoutKey(n: number): Promise<number> {
  const { api } = stays as TestServer;
  return (await api('POST', '/events', { id: `e-${n}`, event_name: 'published', data: { n } })).status;
}

test('an event published with retries is stored and sent once, though the node is killed', async () => {
  await listener('/published', 'published');
  const publishing = Array.from({ length: EVENTS }, (_, n) => publish(n));
  await Promise.race(publishing);
  await kill();
  expect(new Set(await Promise.all(publishing))).toEqual(new Set([200]));
  const stored = await database.db.sql<{ emit_id: string }[]>`
    select emit_id from events where emitter_id = ${sourceId} and channel = 'published'`;
  expect([stored.length, new Set(stored.map((row) => row.emit_id)).size]).toEqual([EVENTS, EVENTS]);
  // No other node delivers what the one that died has left.
  dies = await start();
  const isOver = () => new Set(arrived('/published').map(numberOf)).size === EVENTS;
  await eventually(isOver, { timeoutMs: 60_000, what: 'all of them' });
  expectSameIds(arrived('/published'), EVENTS);
});
