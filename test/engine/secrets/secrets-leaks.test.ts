import { readFile } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeDataDir } from '../../support/run-folder.ts';
import { ADMIN_KEY, API_KEY, deploy, startServer, subscribe, type TestServer } from '../../support/server.ts';
import { dumpDatabase, secretsIn } from '../../support/whole-output.ts';

const PROPS = {
  token: 'ghp_"t0p" s/cr+t',
  keys: ['first-of-the-keys', 'second-of-the-keys'],
  login: ['ada-lovelace', 'correct horse'],
};
const DATABASE_PASSWORD = 'postgres-password';
const ENCRYPTION_KEY = 'e'.repeat(64);
const OLD_KEY = 'an older key of many characters';

/** Puts its secrets everywhere where a run can put anything. */
const BLABBER = `export default { name: "Blabber", version: "1", dedupe: "unique",
  props: {
    http: { type: "$.interface.http", customResponse: true },
    token: { type: "string", secret: true },
    keys: { type: "string[]", secret: true },
    login: { type: "string[]", secret: true },
    fails: { type: "string", optional: true },
  },
  hooks: {
    deploy() {
      console.log("deploying with", this.token, this.login);
      if (this.fails) throw new Error("the server refused " + this.token + " of " + this.login[1]);
    },
  },
  async run(event) {
    const basic = Buffer.from("user:" + this.token).toString("base64");
    console.log("token", this.token, { keys: this.keys, login: this.login }, basic, encodeURIComponent(this.token));
    console.error(new Error("with " + this.keys[1]));
    const everything = { token: this.token, login: this.login, text: JSON.stringify(this.login), basic, event };
    this.$emit(everything, { id: "id-" + this.token, summary: "for " + this.login[0] + " " + this.keys });
    this.$emit({ [this.token]: this.keys }, { id: 2, name: this.keys[0] });
    const notFound = await fetch("http://nobody:" + encodeURIComponent(this.token) + "@nowhere.invalid/?k=" + this.keys[0])
      .catch((error) => error);
    console.log(notFound);
    if (event.query.answer) await this.http.respond({ status: 200, body: this.token });
    function failing(token) { throw new TypeError("cannot use " + token); }
    failing(this.token + " or " + this.keys.join());
  } };`;

let server: TestServer;
let receiver: Receiver;
let sql: postgres.Sql<{ bigint: number }>;
let secrets: Record<string, string>;
let sourceId: string;
/** Every answer of the API that may not hold a secret. */
const answers: string[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({
    dataDir: makeDataDir(),
    env: {
      HEADWATER_LOG_LEVEL: 'trace',
      HEADWATER_ENCRYPTION_KEY: ENCRYPTION_KEY,
      HEADWATER_ENCRYPTION_KEYS_OLD: OLD_KEY,
      HEADWATER_RETRY_SCHEDULE_SECONDS: '0.1,0.1',
    },
  });
  sql = await connect();
  secrets = await useEverything();
});
afterAll(async () => {
  await sql.end();
  await server.stop();
  await receiver.stop();
});

async function connect() {
  const read = async (name: string) => (await readFile(path.join(server.dataDir, name), 'utf8')).trim();
  const port = (await read('postgres/postmaster.pid')).split('\n')[3];
  const url = `postgres://headwater:${await read(DATABASE_PASSWORD)}@127.0.0.1:${port}/headwater`;
  const bigint = { to: 20, from: [20], serialize: String, parse: Number };
  return postgres(url, { max: 2, onnotice: () => undefined, types: { bigint } });
}

async function api(method: string, apiPath: string, body?: unknown, key?: string) {
  const answer = await server.api(method, apiPath, body, key);
  answers.push(`${method} ${apiPath}: ${answer.text}`);
  return answer;
}

async function useEverything(): Promise<Record<string, string>> {
  const source = await deploy(server, BLABBER, { props: PROPS });
  sourceId = source.id;
  const webhook = await subscribe(server, source.id, `${receiver.url}/default`);
  const errors = await subscribe(server, source.id, `${receiver.url}/errors`, '&event_name=$errors');
  const madeKey = await server.api('POST', '/api_keys', { name: 'second' });
  receiver.script({ status: 500 }, { status: 500 });
  const proof = { 'x-token': PROPS.token, authorization: `Basic ${btoa(`x:${PROPS.keys[0]}`)}` };
  const silent = await fetch(`${source.endpoint}?token=${encodeURIComponent(PROPS.token)}`, { headers: proof });
  answers.push(`the endpoint: ${await silent.text()}`);
  const told = await fetch(`${source.endpoint}?answer=1`);
  expect(await told.text()).toBe(PROPS.token);
  await api('POST', '/sources', { component_code: BLABBER, configured_props: { ...PROPS, fails: 'yes' } });
  await api('POST', '/sources', { component_code: BLABBER, configured_props: { ...PROPS, keys: PROPS.token } });
  await api('PUT', `/sources/${source.id}`, { configured_props: { token: { wrong: PROPS.token } } });
  await api('PUT', `/sources/${source.id}`, { name: 'renamed', configured_props: PROPS });
  await api('POST', `/sources/${source.id}/run`, { event: { query: {}, secret: PROPS.token } });
  await untilRunsAreOver(3);
  await askEverywhere(webhook.id);
  return {
    token: PROPS.token,
    firstKey: PROPS.keys[0] ?? '',
    secondKey: PROPS.keys[1] ?? '',
    user: PROPS.login[0] ?? '',
    password: PROPS.login[1] ?? '',
    apiKey: API_KEY,
    adminKey: ADMIN_KEY,
    madeKey: madeKey.body.data.api_key,
    encryptionKey: ENCRYPTION_KEY,
    oldKey: OLD_KEY,
    databasePassword: (await readFile(path.join(server.dataDir, DATABASE_PASSWORD), 'utf8')).trim(),
    webhookSecret: webhook.secret.replace('whsec_', ''),
    errorsSecret: errors.secret.replace('whsec_', ''),
  };
}

async function askEverywhere(webhookId: string): Promise<void> {
  for (const list of ['', '/event_summaries?expand=event&limit=100', '/runs?limit=100']) {
    await api('GET', `/sources/${sourceId}${list}`);
  }
  for (const list of ['/users/me', '/users/me/sources', '/users/me/webhooks', '/api_keys', '/components', '/nothing']) {
    await api('GET', list);
  }
  await api('GET', `/webhooks/${webhookId}/deliveries`);
  await api('GET', '/users/me', undefined, 'hw_not_a_key_of_anybody');
  answers.push(await (await fetch(`${server.url}/metrics`)).text());
}

async function untilRunsAreOver(count: number): Promise<void> {
  const areOver = async () => {
    const { body } = await server.api('GET', `/sources/${sourceId}/runs?limit=100`);
    const failed = body.data.filter((run: { error: unknown }) => run.error);
    const [open] = await sql`select count(*)::int as n from deliveries where status = 'pending'`;
    return failed.length >= count && open?.['n'] === 0;
  };
  await eventually(areOver, { timeoutMs: 40_000, everyMs: 50, what: `${count} failed runs and their deliveries` });
}

it("no secret is in an answer of the API, in an endpoint's answer about a failed run, or in /metrics", () => {
  expect(answers.length).toBeGreaterThan(14);
  for (const answer of answers) expect([answer, secretsIn(answer, secrets)]).toEqual([answer, []]);
  const failedHook = answers.find((answer) => answer.includes('hook-failed'));
  expect(failedHook).toContain('the server refused [secret:token] of [secret:login.1]');
  expect(failedHook).toContain('deploying with [secret:token]');
});

it('no secret is in an event, and each is named where it was', async () => {
  const { body } = await server.api('GET', `/sources/${sourceId}/event_summaries?expand=event&limit=100`);
  expect(secretsIn(JSON.stringify(body.data), secrets)).toEqual([]);
  const event = body.data.find((one: { metadata: { id: string } }) => one.metadata.id === 'id-[secret:token]');
  expect(event.metadata.summary).toBe('for [secret:login.0] [secret:keys.0],[secret:keys.1]');
  expect(event.event).toMatchObject({
    token: '[secret:token]',
    login: ['[secret:login.0]', '[secret:login.1]'],
    text: '["[secret:login.0]","[secret:login.1]"]',
  });
  expect(event.event.basic).toMatch(/^dXNlcj[^=]?\[secret:token\].?=*$/);
  expect(event.event.event.headers['x-token']).toBe('[secret:token]');
  expect(event.event.event.query.token).toBe('[secret:token]');
});

it('no secret is in a request to a webhook, also on $errors', () => {
  const bodies = receiver.requests.map(({ url, body }) => ({ url, body }));
  expect(bodies.some(({ url, body }) => url === '/errors' && body.includes('cannot use [secret:token]'))).toBe(true);
  expect(bodies.some(({ url }) => url === '/default')).toBe(true);
  for (const { body } of bodies) expect([body, secretsIn(body, secrets)]).toEqual([body, []]);
});

it('no secret is in the log of the server at its most talkative, nor in that of its database', async () => {
  const log = server.process.output();
  expect(log.split('\n').length).toBeGreaterThan(20);
  expect(secretsIn(log, secrets)).toEqual([]);
  expect(secretsIn(await readFile(path.join(server.dataDir, 'postgres.log'), 'utf8'), secrets)).toEqual([]);
});

it('no secret is in a row of the database, and none of a deleted source stays there even sealed', async () => {
  const dump = await dumpDatabase(sql);
  expect(dump).toContain('$sealed');
  expect(secretsIn(dump, secrets)).toEqual([]);
  await server.api('DELETE', `/sources/${sourceId}`);
  const rows = await sql`select configured_props from sources where id = ${sourceId}`;
  expect(rows).toEqual([{ configured_props: {} }]);
});
