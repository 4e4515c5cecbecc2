import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { longRun } from '../../support/long-run.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { deploy, killNode, post, startServer, type TestServer } from '../../support/server.ts';

const EVENTS = longRun(120, 200);
const MANY = `export default { name: 'Many', version: '1', props: { http: '$.interface.http' },
  run({ body }) { for (let n = 0; n < body.count; n++) this.$emit({ n }); } };`;

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

test('a replay whose node is killed again and again makes each delivery once', async () => {
  const { sql } = database.db;
  let server = await start();
  const source = await deploy(server, MANY);
  await post(source.endpoint, { count: EVENTS });
  const stored = () => sql`select from events where emitter_id = ${source.id}`;
  await eventually(async () => (await stored()).length === EVENTS, { what: 'all events' });
  const { id: listener_id } = (await server.api('POST', '/webhooks', { url: receiver.url })).body.data;
  const made = await server.api('POST', '/replays', { emitter_id: source.id, listener_id, rate_per_second: 40 });
  expect(made.body.data).toMatchObject({ count: EVENTS });
  const { id } = made.body.data as { id: string };
  const sent = async () => (await sql<{ sent: number }[]>`select sent from replays where id = ${id}`)[0]?.sent ?? 0;
  for (let kills = 0; kills < longRun(1, 2); kills++) {
    const before = await sent();
    await eventually(async () => (await sent()) > before, { timeoutMs: 60_000, what: 'the replay to go on' });
    server = await killAndStart(server);
  }
  await eventually(async () => (await server.api('GET', `/replays/${id}`)).body.data.status === 'done', {
    timeoutMs: 60_000,
    what: 'the end of the replay',
  });
  expect(await sent()).toBe(EVENTS);
  const rows = await sql<{ event: string }[]>`
    select indexed_at_ms || '-' || seq as event from deliveries where webhook_id = ${listener_id} and replay_id = ${id}`;
  expect([rows.length, new Set(rows.map(({ event }) => event)).size]).toEqual([EVENTS, EVENTS]);
  const ids = () => new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
  await eventually(() => ids().size === EVENTS, { timeoutMs: 60_000, what: 'all of them at the receiver' });
  await server.stop();
});
