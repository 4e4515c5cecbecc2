import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ADMIN_KEY, deploy, killNode, post, startServer, type TestServer } from '../support/server.ts';

/*
 * Clients that wait for the answer of a component while their node is frozen, stopped or killed.
 * Another node runs what they have sent. A stop waits nine seconds for its clients.
 */

const ANSWERS = `export default { name: 'Answers', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true }, gate: 'string' },
  async run(event) {
    const { status } = await fetch(this.gate);
    if (status !== 200) throw new Error('the gate is shut');
    this.$emit(event.body.id);
    this.http.respond({ status: 201, body: 'done' });
  } };`;

let database: TestDatabase;
let gate: Receiver;
let other: TestServer;
let asked: TestServer;

const start = () => startServer({ databaseUrl: database.url, env: { HEADWATER_PUBLIC_URL: 'http://127.0.0.1:1' } });

beforeAll(async () => {
  [database, gate] = await Promise.all([createTestDatabase(), startReceiver()]);
  [other, asked] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([gate.stop(), other.stop(), asked.stop()]);
  await database.drop();
});

interface Answered {
  status: number | 'reset';
  run: string | null;
  text: string;
}

async function ask(endpoint: string, id: string): Promise<Answered> {
  try {
    const answer = await post(asked.url + new URL(endpoint).pathname, { id });
    return { status: answer.status, run: answer.headers.get('x-headwater-run'), text: await answer.text() };
  } catch {
    return { status: 'reset', run: null, text: '' };
  }
}

async function expectEmitted(sourceId: string, ids: readonly string[]): Promise<void> {
  const { sql } = database.db;
  await eventually(async () => (await sql`select from invocations where source_id = ${sourceId}`).length === 0, {
    timeoutMs: 60_000,
    what: 'the end of all runs',
  });
  const rows = await sql<{ data: string }[]>`select data from events where emitter_id = ${sourceId}`;
  expect(rows.map(({ data }) => JSON.parse(data) as string).toSorted()).toEqual(ids);
}

/** A source whose runs on the asked node wait until `let`, and then fail. Others pass. */
async function hold() {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.script({ status: 500, after: promise });
  const seen = gate.requests.length;
  const source = await deploy(other, ANSWERS, { props: { gate: gate.url } });
  return { source, let: resolve, isHeld: () => eventually(() => gate.requests.length > seen, { timeoutMs: 30_000 }) };
}

const KEPT = { status: 202, run: expect.stringMatching(/^inv_/), text: expect.stringContaining('"status":"accepted"') };

test('clients of a frozen node are told that their requests are kept, and these run once elsewhere', async () => {
  const account = (await other.api('GET', '/users/me/limits')).body.data.account_id as string;
  const limits = `/accounts/${account}/limits`;
  expect((await other.api('PUT', limits, { maxRunsPerComponent: 1 }, ADMIN_KEY)).status).toBe(200);
  const held = await hold();
  const running = ask(held.source.endpoint, 'a');
  await held.isHeld();
  const waiting = ask(held.source.endpoint, 'b');
  const { sql } = database.db;
  await eventually(async () => (await sql`select from invocations where leased_by is not null`).length === 2);
  const [holder] = await sql<{ id: string }[]>`select distinct leased_by as id from invocations`;
  process.kill(asked.process.pid, 'SIGSTOP');
  await sql`update nodes set seen_at = seen_at - interval '1 minute' where id = ${holder?.id ?? ''}`;
  await expectEmitted(held.source.id, ['a', 'b']);
  process.kill(asked.process.pid, 'SIGCONT');
  await asked.process.untilOutput(/this node had been declared dead/, 60_000);
  held.let();
  expect(await Promise.all([running, waiting])).toMatchObject([KEPT, KEPT]);
  await expectEmitted(held.source.id, ['a', 'b']);
});

test('clients of a killed node see a reset, and their requests run once elsewhere', async () => {
  const held = await hold();
  const answer = ask(held.source.endpoint, 'a');
  await held.isHeld();
  const [row] = await database.db.sql<{ id: string }[]>`select leased_by as id from invocations`;
  await database.db.sql`update nodes set started_at = now() where id = ${row?.id ?? ''}`;
  await killNode(asked, database.db.sql);
  expect(await answer).toMatchObject({ status: 'reset' });
  await expectEmitted(held.source.id, ['a']);
  held.let();
});

test('clients of a node that stops before the answer are told that their requests are kept', async () => {
  asked = await start();
  const held = await hold();
  const answer = ask(held.source.endpoint, 'a');
  await held.isHeld();
  const { code } = await asked.process.end('SIGTERM');
  expect({ code, ...(await answer) }).toMatchObject({ code: 0, ...KEPT });
  await expectEmitted(held.source.id, ['a']);
  held.let();
});
