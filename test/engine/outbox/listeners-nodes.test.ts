import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { deploy, killNode, post, startServer, type TestServer } from '../../support/server.ts';

const EMITTER = `export default { name: 'Emitter', version: '1', props: { http: '$.interface.http' },
  run({ body }) { for (let n = 0; n < body.count; n++) this.$emit({ n }); } };`;

/** Waits at the gate before it emits the received event. */
const GATED = `export default { name: 'Gated', version: '1', props: { gate: 'string' },
  async run(event) { await fetch(this.gate); this.$emit(event); } };`;

let test: TestDatabase;
let nodes: [TestServer, TestServer];
let gate: Receiver;

beforeAll(async () => {
  test = await createTestDatabase();
  gate = await startReceiver();
  nodes = await Promise.all([startServer({ databaseUrl: test.url }), startServer({ databaseUrl: test.url })]);
});
afterAll(async () => {
  await gate.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

async function listenTo(server: TestServer, channel = '') {
  const emitter = await deploy(server, EMITTER);
  const listener = await deploy(server, GATED, { props: { gate: gate.url } });
  const key = { emitter_id: emitter.id, listener_id: listener.id, event_name: channel };
  expect((await server.api('POST', '/subscriptions', key)).status).toBe(200);
  const heard = async () => {
    const rows = await test.db.sql<{ data: string; caused_by: string }[]>`
      select data, caused_by from events where emitter_id = ${listener.id} order by indexed_at_ms, seq`;
    return rows.map(({ data, caused_by: causedBy }) => ({ n: (JSON.parse(data) as { n: number }).n, causedBy }));
  };
  return { emitter, listener, heard };
}

it('each event from either of two nodes reaches the listener once', async () => {
  const { emitter, heard } = await listenTo(nodes[0]);
  const endpoints = [emitter.endpoint, nodes[1].url + new URL(emitter.endpoint).pathname] as const;
  await Promise.all(Array.from({ length: 20 }, (_, i) => post(endpoints[i % 2] ?? '', { count: 10 })));
  await eventually(async () => (await test.db.sql`select from invocations`).length === 0, { timeoutMs: 20_000 });
  const events = await heard();
  expect(events).toHaveLength(200);
  expect(new Set(events.map(({ causedBy }) => causedBy)).size).toBe(200);
});

it('a listener whose node is killed while it runs is run by another node, for the same events', {
  timeout: 60_000,
}, async () => {
  const doomed = await startServer({ databaseUrl: test.url });
  const { emitter, heard } = await listenTo(doomed);
  gate.answer = { delayMs: 60_000 };
  const before = gate.requests.length;
  await post(emitter.endpoint, { count: 3 });
  await gate.until(before + 3);
  await killNode(doomed, test.db.sql);
  gate.answer = {};
  const events = await eventually(async () => (await heard()).length >= 3 && (await heard()), { timeoutMs: 40_000 });
  expect(events.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
  expect(new Set(events.map(({ causedBy }) => causedBy)).size).toBe(3);
});
