import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rotateSecrets } from '../../../engine/src/index.ts';
import { readSealedKeyUse } from '../../../engine/src/secrets/read-sealed-values.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { testLog } from '../../support/logs.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeDataDir } from '../../support/run-folder.ts';
import { post, startServer, type TestServer } from '../../support/server.ts';

const TOKEN = 'sk_live_0123456789';
const KEPT = { type: 'string', secret: true };

/** Holds each request until it is opened. */
interface Gate {
  url: string;
  /** Resolves after this many requests. */
  until: (count: number) => Promise<unknown>;
  open: () => void;
  server: Server;
}

async function startGate(): Promise<Gate> {
  const opened = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    void opened.promise.then(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const until = (count: number) => eventually(() => asked >= count, { what: `${count} requests at the gate` });
  return { url, until, open: opened.resolve, server };
}

let database: TestDatabase;
let server: TestServer;
let receiver: Receiver;
let gate: Gate;
let options: { databaseUrl: string; dataDir: string };

beforeEach(async () => {
  database = await createTestDatabase();
  options = { databaseUrl: database.url, dataDir: makeDataDir() };
  receiver = await startReceiver();
  gate = await startGate();
  server = await startServer({ ...options, env: { HEADWATER_ENCRYPTION_KEY: '' } });
});
afterEach(async () => {
  gate.open();
  await server.stop();
  await receiver.stop();
  gate.server.close();
  await database.drop();
});

/** The key in the data folder, which the running node takes up by itself. */
async function rotate(): Promise<string> {
  const rotated = await rotateSecrets({ ...options, log: testLog });
  expect(rotated).toMatchObject({ complete: true, unopened: [] });
  return rotated.keyId;
}

const keysInUse = async () => (await readSealedKeyUse(database.db.sql)).map(({ keyId }) => keyId);

test('sends of an execution under way are sealed under the new key at its end, and arrive', async () => {
  // The send stays in the database.
  receiver.script({ status: 503 });
  const sends = `$.send.http({ url: '${receiver.url}/', headers: { authorization: this.token } });`;
  const made = await server.api('POST', '/workflows', {
    triggers: [{ type: 'http' }],
    steps: [
      {
        namespace: 'one',
        component_code: action(sends, `token: ${JSON.stringify(KEPT)}`),
        props: { token: TOKEN },
      },
      { namespace: 'two', component_code: action(`await fetch('${gate.url}');`) },
    ],
  });
  const [trigger] = made.body.data.triggers;
  await post(server.url + new URL(trigger.endpoint_url).pathname, {});
  await gate.until(1);
  const keyId = await rotate();
  gate.open();
  const [sent] = await receiver.until(1);
  expect(sent?.headers.authorization).toBe(TOKEN);
  const rows = await database.db.sql<{ sealed: string }[]>`select sealed from sends`;
  expect(rows).toMatchObject([{ sealed: expect.stringMatching(`^v2\\.${keyId}\\.`) }]);
  expect(await keysInUse()).toEqual([keyId]);
}, 60_000);

test('steps that a new version keeps, or has sealed before its sources were deployed, come under the new key', async () => {
  const secretStep = {
    namespace: 'one',
    component_code: action('return 1;', `token: ${JSON.stringify(KEPT)}`),
    props: { token: TOKEN },
  };
  const held = (wait: string) => ({
    component_code: `export default { name: 'Held', version: '1', hooks: { async activate() { ${wait} } }, run() {} };`,
  });
  const made = await server.api('POST', '/workflows', { triggers: [], steps: [secretStep] });
  expect(made.status).toBeLessThan(300);
  const triggers = [held(`await fetch('${gate.url}');`)];
  const [kept, fresh] = [
    server.api('PUT', `/workflows/${made.body.data.id}`, { triggers }),
    server.api('POST', '/workflows', { triggers, steps: [secretStep] }),
  ];
  await gate.until(2);
  const keyId = await rotate();
  gate.open();
  expect([(await kept).status, (await fresh).status].every((status) => status < 300)).toBe(true);
  expect(await database.db.sql`select from deployments`).toHaveLength(3);
  expect(await keysInUse()).toEqual([keyId]);
}, 60_000);
