import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { ADMIN_KEY, callApi, deploy, post, startServer, type TestServer } from '../../support/server.ts';

const COUNTING = `export default { name: 'Counting', version: '1',
  props: { http: '$.interface.http', db: '$.service.db', gate: 'string' },
  async run() {
    await fetch(this.gate);
    this.db.set('runs', (this.db.get('runs') ?? 0) + 1);
    this.$emit({ runs: this.db.get('runs') });
  } };`;
/** For longer than the client waits for a database that is away. */
const WALL_MS = LIMITS.databaseAwayWaitMs + 2_000;

let database: TestDatabase;
let proxy: CuttingProxy;
let gate: Receiver;
let server: TestServer;

beforeAll(async () => {
  [database, gate] = await Promise.all([createTestDatabase(), startReceiver()]);
  proxy = await startCuttingProxy(database.url);
  server = await startServer({ databaseUrl: proxy.url });
});
afterAll(async () => {
  await server.stop();
  await proxy.stop();
  await gate.stop();
  await database.drop();
});

test('a run that needed the database while it was away does not fail for that: it is run again, and emits once', async () => {
  const [account] = await database.db.sql<{ id: string }[]>`select id from accounts`;
  const limitTo = async (httpRunWallMs: number | null) => {
    const path = `${server.url}/v1/accounts/${account!.id}/limits`;
    return (await callApi(path, 'PUT', { httpRunWallMs }, ADMIN_KEY)).status;
  };
  expect(await limitTo(WALL_MS)).toBe(200);
  const source = await deploy(server, COUNTING, { props: { gate: gate.url } });
  let refused: Promise<void> | undefined;
  gate.answer = () => {
    refused ??= proxy.refuse();
    return { delayMs: 200 };
  };
  expect((await post(source.endpoint, {})).status).toBe(200);
  await gate.until(1);
  await refused;
  // Its time runs out while it waits for a value.
  await sleep(WALL_MS + 1_500);
  await proxy.accept();
  // On a full machine the next try may take longer than the first one had to.
  await eventually(async () => (await limitTo(null)) === 200);
  const { sql } = database.db;
  await eventually(async () => (await sql`select from invocations where source_id = ${source.id}`).length === 0, {
    timeoutMs: 60_000,
    everyMs: 50,
  });
  const events = await sql<{ data: string }[]>`select data from events where emitter_id = ${source.id}`;
  expect([...events]).toEqual([{ data: '{"runs":1}' }]);
  expect(gate.requests.length).toBeGreaterThan(1);
  expect(await sql`select from runs where source_id = ${source.id} and status = 'error'`).toHaveLength(0);
});
