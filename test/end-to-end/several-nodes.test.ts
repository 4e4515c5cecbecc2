import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ADMIN_KEY, deploy, post, startServer, subscribe, type TestServer } from '../support/server.ts';

const DEDUPED = (version: string) => `export default { name: "Deduped", version: "${version}", dedupe: "unique",
  props: { http: "$.interface.http" },
  run(event) { this.$emit({ ...event.body, version: "${version}" }, { id: event.body.id }); } };`;

let test: TestDatabase;
let receiver: Receiver;
let api: TestServer;
let engine: TestServer;

beforeAll(async () => {
  test = await createTestDatabase();
  receiver = await startReceiver();
  [api, engine] = await Promise.all([
    startServer({ databaseUrl: test.url, role: 'api' }),
    startServer({ databaseUrl: test.url, role: 'engine' }),
  ]);
});
afterAll(async () => {
  await receiver.stop();
  await Promise.all([api.stop(), engine.stop()]);
  await test.drop();
});

/** The same endpoint, asked through another node. */
const through = (server: TestServer, endpoint: string) => server.url + new URL(endpoint).pathname;

it('an api node and an engine node on one database do the work together', async () => {
  const code = `export default { name: "Both", version: "1",
    props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } },
      http: { type: "$.interface.http", customResponse: true } },
    run(event) {
      this.$emit({ by: event.method ? "http" : "timer" });
      if (event.method) this.http.respond({ status: 202 });
    } };`;
  const source = await deploy(api, code);
  // The timer belongs to the engine node; requests that wait for an answer belong to the api node.
  await subscribe(api, source.id, `${receiver.url}/both`);
  expect((await post(source.endpoint, {})).status).toBe(202);
  const bodies = () => receiver.requests.filter(({ url }) => url === '/both').map(({ body }) => body);
  await eventually(() => bodies().includes('{"by":"http"}') && bodies().includes('{"by":"timer"}'));
  // An engine node answers probes and nothing else.
  expect((await engine.api('GET', '/users/me')).status).toBe(404);
});

it('a retry is made by any node that runs lanes', async () => {
  const source = await deploy(api, DEDUPED('1'));
  const flaky = await startReceiver();
  flaky.script({ status: 503 });
  await subscribe(api, source.id, flaky.url);
  await post(source.endpoint, { id: 1 });
  const [first, second] = await flaky.until(2, 15_000);
  expect(second?.body).toBe(first?.body);
  await flaky.stop();
});

it('a limit that is set through one node holds on another at once', async () => {
  const other = await startServer({ databaseUrl: test.url });
  const id = (await api.api('GET', '/users/me/limits')).body.data.account_id as string;
  const source = await deploy(api, DEDUPED('1'));
  const endpoint = through(other, source.endpoint);
  expect((await post(endpoint, { id: 'before' })).status).toBe(200);
  const limit = (value: number | null) =>
    api.api('PUT', `/accounts/${id}/limits`, { maxRequestsPerSecond: value }, ADMIN_KEY);
  expect((await limit(1)).status).toBe(200);
  await eventually(async () => (await post(endpoint, { id: 'after' })).status === 429);
  await limit(null);
  await eventually(async () => (await post(endpoint, { id: 'again' })).status === 200);
  await other.stop();
});

it('two nodes that run one source at once let each id through once, and see each other’s changes', async () => {
  const other = await startServer({ databaseUrl: test.url });
  const source = await deploy(api, DEDUPED('1'));
  await subscribe(api, source.id, `${receiver.url}/once`);
  const endpoints = [source.endpoint, through(other, source.endpoint)];
  const ids = Array.from({ length: 60 }, (_, i) => i % 30);
  const answers = await Promise.all(ids.map((id, i) => post(endpoints[i % 2] ?? '', { id })));
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  const emitted = async () => {
    const { body } = await other.api('GET', `/sources/${source.id}/event_summaries?limit=100`);
    return body.data.map(({ event }: { event: { id: number; version: string } }) => event);
  };
  await eventually(async () => (await test.db.sql`select 1 from invocations`).length === 0);
  const seen = (await emitted()).map(({ id }: { id: number }) => id);
  expect(seen.toSorted((a: number, b: number) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));

  await api.api('PUT', `/sources/${source.id}`, { component_code: DEDUPED('2') });
  await eventually(async () => {
    await post(through(other, source.endpoint), { id: `v2-${Math.random()}` });
    return (await emitted()).some(({ version }: { version: string }) => version === '2');
  });
  await other.api('PUT', `/sources/${source.id}`, { active: false });
  await eventually(async () => (await post(source.endpoint, { id: 'late' })).status === 404);
  await other.stop();
});

it('requests to a stopped source are refused, and those accepted before run when it starts again', async () => {
  const gate = await startReceiver();
  gate.answer = { delayMs: 300 };
  const code = `export default { name: "Slow", version: "1", props: { http: "$.interface.http", gate: "string" },
    async run(event) { await fetch(this.gate); this.$emit(event.body); } };`;
  const source = await deploy(api, code, { props: { gate: gate.url } });
  // More than run at the same time: the rest waits, in memory or in the database.
  const ids = Array.from({ length: 100 }, (_, i) => i);
  await Promise.all(ids.map((id) => post(source.endpoint, { id })));
  await api.api('PUT', `/sources/${source.id}`, { active: false });
  expect((await post(source.endpoint, { id: 'refused' })).status).toBe(404);
  await api.api('PUT', `/sources/${source.id}`, { active: true });
  await eventually(async () => {
    const rows = await test.db.sql`select 1 from events where emitter_id = ${source.id}`;
    return rows.length === 100;
  });
  await gate.stop();
});
