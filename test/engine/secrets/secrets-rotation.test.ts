import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { rotateSecrets } from '../../../engine/src/index.ts';
import { fixedKeys, loadMasterKeys } from '../../../engine/src/secrets/master-key.ts';
import { rotateKeys } from '../../../engine/src/secrets/rotate-keys.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { startProcess } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeDataDir } from '../../support/run-folder.ts';
import { deploy, type ServerOptions, startServer, subscribe, type TestServer } from '../../support/server.ts';

const MAIN = fileURLToPath(new URL('../../../api/src/main.ts', import.meta.url));
const ROTATE = fileURLToPath(new URL('../../../api/src/rotate-secrets-main.ts', import.meta.url));
const [FIRST, SECOND] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

/** Answers with its secret, which shows whether it was decrypted. */
const TELLER = `export default { name: "Teller", version: "1",
  props: { http: { type: "$.interface.http", customResponse: true }, token: { type: "string", secret: true } },
  async run(event) { this.$emit({ n: 1 }); await this.http.respond({ status: 200, body: this.token }); } };`;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  ends.push(() => database.drop());
  return database;
}

async function start(options: ServerOptions): Promise<TestServer> {
  const server = await startServer(options);
  ends.push(() => server.stop());
  return server;
}

const withKeys = (encryptionKey: string, old = '') => ({
  HEADWATER_ENCRYPTION_KEY: encryptionKey,
  HEADWATER_ENCRYPTION_KEYS_OLD: old,
});

interface Customer {
  endpoint: string;
  sourceId: string;
  webhookId: string;
  token: string;
  signingSecret: string;
}

async function addCustomer(server: TestServer, receiver: Receiver, token: string): Promise<Customer> {
  const source = await deploy(server, TELLER, { props: { token } });
  const webhook = await subscribe(server, source.id, receiver.url);
  return {
    endpoint: source.endpoint,
    sourceId: source.id,
    webhookId: webhook.id,
    token,
    signingSecret: webhook.secret,
  };
}

/** Its prop opens in a run, its signing secret in the API and for a delivery. */
async function expectServed(server: TestServer, receiver: Receiver, customer: Customer): Promise<void> {
  const before = receiver.requests.length;
  const answer = await fetch(server.url + new URL(customer.endpoint).pathname);
  expect([answer.status, await answer.text()]).toEqual([200, customer.token]);
  const webhook = await server.api('GET', `/webhooks/${customer.webhookId}`);
  expect(webhook.body.data.secret).toBe(customer.signingSecret);
  await receiver.until(before + 1);
}

async function keyIdOf(encryptionKey: string): Promise<string> {
  return (await loadMasterKeys({ encryptionKey, dataDir: '', embedded: false })).keys.current().id;
}

async function sealedTexts({ db }: TestDatabase): Promise<string[]> {
  const rows = await db.sql<{ sealed: string }[]>`
    select secret as sealed from webhooks union all select configured_props -> 'token' ->> '$sealed' from sources`;
  return rows.map((row) => row.sealed);
}

test('a key is replaced while the nodes serve, interrupted half way and taken up again', async () => {
  const database = await newDatabase();
  const receiver = await startReceiver();
  ends.push(receiver.stop);
  const options = { databaseUrl: database.url, dataDir: makeDataDir(), log: testLog };
  const rotation = { ...options, encryptionKey: SECOND, oldEncryptionKeys: [FIRST] };

  const first = await start({ ...options, env: withKeys(FIRST, SECOND) });
  const customers = [];
  for (let i = 0; i < 5; i++) customers.push(await addCustomer(first, receiver, `token-number-${i}`));
  // A node that seals with the old key would bring it back.
  await expect(rotateSecrets(rotation)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(await keyIdOf(FIRST)),
  });
  await first.stop();

  const server = await start({ ...options, env: withKeys(SECOND, FIRST) });
  const serving = { over: false };
  const served = (async () => {
    let count = 0;
    for (; !serving.over || count === 0; count++) {
      for (const customer of customers) await expectServed(server, receiver, customer);
    }
    return count;
  })();
  const interrupt = new AbortController();
  const half = await rotateSecrets({
    ...rotation,
    batchSize: 4,
    signal: interrupt.signal,
    onProgress: () => interrupt.abort(),
  });
  expect(half).toMatchObject({ rewrapped: 4, complete: false, unopened: [] });
  const newPrefix = `v2.${await keyIdOf(SECOND)}.`;
  const isNew = (sealed: string) => sealed.startsWith(newPrefix);
  expect((await sealedTexts(database)).filter(isNew)).toHaveLength(4);

  const rest = await rotateSecrets({ ...rotation, batchSize: 4 });
  expect(rest).toMatchObject({ rewrapped: 6, complete: true, unopened: [] });
  serving.over = true;
  expect(await served).toBeGreaterThan(0);
  expect((await sealedTexts(database)).every(isNew)).toBe(true);
  expect(await rotateSecrets(rotation)).toMatchObject({ rewrapped: 0, complete: true });
  await server.stop();

  // The old key is not needed any more, and does not open anything.
  const alone = await start({ ...options, env: withKeys(SECOND) });
  for (const customer of customers) await expectServed(alone, receiver, customer);
  const stale = startProcess({
    args: [MAIN],
    env: { DATABASE_URL: database.url, HEADWATER_DATA_DIR: options.dataDir, ...withKeys(FIRST) },
  });
  expect(await stale.exited).toEqual({ code: 1, signal: null });
  expect(stale.output()).toContain(`that this node does not have: ${await keyIdOf(SECOND)} (10 of them)`);
}, 180_000);

test('the key in the data folder is replaced by a command beside the running node', async () => {
  const dataDir = makeDataDir();
  const receiver = await startReceiver();
  ends.push(receiver.stop);
  const server = await start({ dataDir, env: withKeys('') });
  const customer = await addCustomer(server, receiver, 'in-the-data-folder');
  const file = path.join(dataDir, 'encryption-key');
  const before = await readFile(file, 'utf8');

  const command = startProcess({ args: [ROTATE], env: { HEADWATER_DATA_DIR: dataDir } });
  expect(await command.exited).toEqual({ code: 0, signal: null });
  expect(command.output()).toContain('2 secrets were put under the key');
  expect(command.output()).not.toContain(before.trim());
  const [young = '', old] = (await readFile(file, 'utf8')).trim().split('\n');
  expect([`${old}\n`, /^[0-9a-f]{64}$/.test(young)]).toEqual([before, true]);

  await expectServed(server, receiver, customer);
  const later = await addCustomer(server, receiver, 'after-the-rotation');
  await server.stop();
  // Nothing needs the old key: neither what there was nor what the running node has sealed since.
  await writeFile(file, `${young}\n`);
  const again = await start({ dataDir, env: withKeys('') });
  await expectServed(again, receiver, customer);
  await expectServed(again, receiver, later);
}, 180_000);

test('a secret that does not open is named, and keeps the rotation from being complete', async () => {
  const { db } = await newDatabase();
  const [old, young] = [FIRST, SECOND].map((key) => Buffer.from(key, 'hex')) as [Buffer, Buffer];
  const keys = { old: { id: 'oldoldoldold', key: old }, young: { id: 'youngyoungyo', key: young } };
  await db.sql`insert into accounts (id, name) values ('o_1', 'one')`;
  await db.sql`insert into users (id, account_id, username) values ('u_1', 'o_1', 'one')`;
  const sealer = createSealer(fixedKeys([keys.old]));
  const secrets = { wh_good: sealer.seal('o_1', 'whsec_1'), wh_moved: sealer.seal('o_2', 'whsec_2'), wh_cut: 'v2.x' };
  for (const [id, secret] of Object.entries(secrets)) {
    await db.sql`insert into webhooks (id, account_id, user_id, url, format, secret)
      values (${id}, 'o_1', 'u_1', 'https://example.com', 'raw', ${secret})`;
  }
  const result = await rotateKeys({ sql: db.sql, sealer: createSealer(fixedKeys([keys.young, keys.old])) });
  expect(result).toMatchObject({ rewrapped: 1, complete: true });
  expect(result.unopened).toEqual([
    expect.stringMatching(/^webhook wh_cut, key x: /),
    expect.stringMatching(/^webhook wh_moved, key oldoldoldold: /),
  ]);
  expect(result.unopened.join()).not.toContain(secrets.wh_moved);
});

test('a secret that a change of a source writes back meanwhile is found', async () => {
  const { db } = await newDatabase();
  const keys = {
    old: { id: 'a'.repeat(12), key: Buffer.alloc(32, 1) },
    young: { id: 'b'.repeat(12), key: Buffer.alloc(32, 2) },
  };
  const sealed = createSealer(fixedKeys([keys.old])).seal('o_1', '"kept"');
  await db.sql`insert into accounts (id, name) values ('o_1', 'one')`;
  await db.sql`insert into users (id, account_id, username) values ('u_1', 'o_1', 'one')`;
  await db.sql`insert into components (id, account_id, name, version, type, code, code_hash, bundle, hooks, configurable_props)
    values ('sc_1', 'o_1', 'c', '1', 'source', '', '', '', '{}', '[]')`;
  const props = JSON.stringify({ 'odd "name"': { $sealed: sealed }, other: 1e300 });
  await db.sql`insert into sources (id, account_id, user_id, component_id, name, name_slug, configured_props, busy_until)
    values ('dc_1', 'o_1', 'u_1', 'sc_1', 's', 's', ${props}::text::jsonb, now() + interval '1 minute')`;
  const sealer = createSealer(fixedKeys([keys.young, keys.old]));
  const rotation = rotateKeys({ sql: db.sql, sealer });
  const isRewrapped = () =>
    db.sql`select from sources where configured_props::text like ${`%${sealer.currentPrefix()}%`}`;
  await eventually(async () => (await isRewrapped()).length === 1);
  // Only now the change ends, and writes the value that it read before.
  await db.sql`update sources set configured_props = ${props}::text::jsonb, busy_until = null`;
  const result = await rotation;
  expect(result).toMatchObject({ rewrapped: 2, complete: true, unopened: [] });
  const [row] = await db.sql`select configured_props from sources`;
  expect(row?.['configured_props']).toMatchObject({ other: 1e300 });
  expect(createSealer(fixedKeys([keys.young])).open('o_1', row?.['configured_props']['odd "name"'].$sealed)).toBe(
    '"kept"',
  );

  // Nothing is left to do, but a change that began before may still bring something back: its end
  // is waited for.
  await db.sql`update sources set busy_until = now() + interval '3 seconds'`;
  expect(await rotateKeys({ sql: db.sql, sealer })).toMatchObject({ rewrapped: 0, complete: true });
  const [after] = await db.sql`select busy_until <= now() as "isOver" from sources`;
  expect(after).toEqual({ isOver: true });

  // One that began later has read the new text: where changes are always under way, it still ends.
  const change = () => db.sql`
    update sources set change_id = gen_random_uuid()::text, busy_until = now() + interval '1 hour'`;
  await change();
  const more = setInterval(() => void change().execute(), 50);
  try {
    expect(await rotateKeys({ sql: db.sql, sealer })).toMatchObject({ rewrapped: 0, complete: true });
  } finally {
    clearInterval(more);
  }
});
