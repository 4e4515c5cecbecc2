import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { longRun } from '../support/long-run.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { deploy, killNode, post, startServer, type TestServer } from '../support/server.ts';

const WAITING = `export default { name: 'Waiting', version: '1', dedupe: 'unique',
  props: { http: '$.interface.http', gate: 'string' },
  async run(event) {
    await fetch(this.gate);
    this.$emit(event.body.id, { id: String(event.body.id) });
  } };`;

let database: TestDatabase;
let gate: Receiver;

beforeAll(async () => {
  [database, gate] = await Promise.all([createTestDatabase(), startReceiver()]);
});
afterAll(async () => {
  await gate.stop();
  await database.drop();
});

const start = () => startServer({ databaseUrl: database.url, ownSession: true });

/**
 * Kills the node `times` times, each time when `isTime` says so, and starts another. Answers the
 * last one.
 */
async function killAgain(first: TestServer, times: number, isTime: () => Promise<unknown>): Promise<TestServer> {
  let server = first;
  for (let kills = 0; kills < times; kills++) {
    await isTime();
    // With all of its process group, as a terminal or a service manager does.
    process.kill(-server.process.pid, 'SIGKILL');
    await killNode(server, database.db.sql);
    server = await start();
  }
  return server;
}

async function expectAll(sourceId: string, ids: readonly number[]): Promise<void> {
  const { sql } = database.db;
  await eventually(async () => (await sql`select from invocations where source_id = ${sourceId}`).length === 0, {
    timeoutMs: 60_000,
    everyMs: 50,
    what: 'the end of all runs',
  });
  const events = await sql<{ data: string }[]>`select data from events where emitter_id = ${sourceId}`;
  expect(events.map(({ data }) => Number(data)).toSorted((a, b) => a - b)).toEqual(ids);
  expect(await sql`select from abandoned_runs where source_id = ${sourceId}`).toHaveLength(0);
}

async function accept(endpoint: string, count: number): Promise<number[]> {
  const ids = Array.from({ length: count }, (_, n) => n);
  for (let from = 0; from < count; from += 50) {
    const answers = await Promise.all(ids.slice(from, from + 50).map((id) => post(endpoint, { id })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  return ids;
}

test('accepted events that have not begun survive kills of their node: each is emitted once', async () => {
  gate.answer = { delayMs: 600_000 };
  const first = await start();
  const source = await deploy(first, WAITING, { props: { gate: gate.url } });
  const ids = await accept(source.endpoint, longRun(150, 400));
  const { sql } = database.db;
  const areLeased = () =>
    eventually(async () => (await sql`select from invocations where leased_by is not null`).length >= ids.length, {
      timeoutMs: 60_000,
      everyMs: 50,
      what: 'the node to take them',
    });
  const last = await killAgain(first, longRun(1, 2), areLeased);
  await areLeased();
  expect([...(await sql`select crashes, count(*)::int as count from invocations group by crashes`)]).toEqual([
    { crashes: 0, count: ids.length },
  ]);
  gate.answer = {};
  const server = await killAgain(last, 1, areLeased);
  await expectAll(source.id, ids);
  await server.stop();
});

test('a hundred runs that wait or run while node and sandboxes are killed all end well', async () => {
  gate.answer = { delayMs: 300 };
  const first = await start();
  const source = await deploy(first, WAITING, { props: { gate: gate.url } });
  const ids = await accept(source.endpoint, 100);
  let seen = gate.requests.length;
  const server = await killAgain(first, longRun(1, 3), async () => {
    await eventually(() => gate.requests.length > seen, { timeoutMs: 30_000 });
    seen = gate.requests.length;
  });
  await expectAll(source.id, ids);
  await server.stop();
});
