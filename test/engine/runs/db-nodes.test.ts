import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { deploy, post, startServer, type TestServer } from '../../support/server.ts';

/** Waits on request between its get and its set. */
const COUNTER = `export default { name: 'Counter', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db', gate: 'string' },
  async run({ body }) {
    if (body.gate) await fetch(this.gate);
    const n = (this.db.get('n') ?? 0) + 1;
    if (body.hold) { const held = n; await fetch(this.gate + '/hold'); this.db.set('n', held); }
    else this.db.set('n', n);
    this.db.set('of ' + body.run, n);
    this.http.respond({ status: 200, body: { n: this.db.get('n') } });
  } };`;

let test: TestDatabase;
let nodes: [TestServer, TestServer];
let gate: Receiver;

beforeAll(async () => {
  test = await createTestDatabase();
  nodes = await Promise.all([startServer({ databaseUrl: test.url }), startServer({ databaseUrl: test.url })]);
  gate = await startReceiver();
});
afterAll(async () => {
  await gate.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

async function counter() {
  const source = await deploy(nodes[0], COUNTER, { props: { gate: gate.url } });
  const endpoints = [source.endpoint, nodes[1].url + new URL(source.endpoint).pathname] as const;
  const stored = async () => {
    await eventually(async () => (await test.db.sql`select from invocations`).length === 0);
    const rows = await test.db.sql<{ key: string; value: string }[]>`
      select key, value from component_db where source_id = ${source.id}`;
    return Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value) as number]));
  };
  return { endpoints, stored };
}

it('runs that overlap on one node count exactly', async () => {
  const { endpoints, stored } = await counter();
  await Promise.all(Array.from({ length: 40 }, (_, run) => post(endpoints[0], { run, gate: true })));
  expect((await stored())['n']).toBe(40);
});

it('a run sees all values committed before it began, from each node', async () => {
  const { endpoints, stored } = await counter();
  for (let run = 0; run < 12; run++) {
    await post(endpoints[run % 2] ?? '', { run });
    expect((await stored())['n']).toBe(run + 1);
  }
});

it('two overlapping runs on two nodes set one key: the later commit wins, and no other value is lost', async () => {
  const { endpoints, stored } = await counter();
  gate.answer = ({ url }) => ({ delayMs: url === '/hold' ? 400 : 0 });
  const slow = post(endpoints[0], { run: 'slow', hold: true });
  await eventually(() => gate.requests.some(({ url }) => url === '/hold'));
  await post(endpoints[1], { run: 'quick' });
  expect(await (await slow).json()).toEqual({ n: 1 });
  // Both began at nothing: the slow one commits last and knows nothing of the other.
  expect(await stored()).toEqual({ n: 1, 'of slow': 1, 'of quick': 1 });
});

it('keys of their own never collide, however many runs on two nodes set them at once', async () => {
  const { endpoints, stored } = await counter();
  await Promise.all(Array.from({ length: 60 }, (_, run) => post(endpoints[run % 2] ?? '', { run })));
  const values = await stored();
  expect(Object.keys(values)).toHaveLength(61);
  expect(values['n']).toBeGreaterThanOrEqual(1);
  expect(values['n']).toBeLessThanOrEqual(60);
});
