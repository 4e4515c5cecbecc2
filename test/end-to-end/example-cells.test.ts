import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportAs, importAs } from '../support/archives.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openEventSource, type TestEventSource } from '../support/event-source.ts';
import { eventually } from '../support/eventually.ts';
import { rawRequest } from '../support/http-server.ts';
import { startProcess, type TestProcess } from '../support/processes.ts';
import { callApi, freePort, post, startServer, type TestServer } from '../support/server.ts';

/** As test/support/archives.ts uses it. */
const ADMIN_KEY = `hw_${'a'.repeat(32)}`;
const ROUTER = path.resolve(import.meta.dirname, '../../examples/cells/router.ts');
const ECHO = `export default { name: 'Echo', version: '1', dedupe: 'unique',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run(event) {
    if (event.body?.n !== undefined) this.$emit(event.body, { id: event.body.n });
    await this.http.respond({ status: 200, body: event.body });
  } };`;

interface Tenant {
  id: string;
  key: string;
  source: string;
  /** The key of its endpoint. */
  endpoint: string;
}

let databases: TestDatabase[];
let cells: [TestServer, TestServer];
let router: TestProcess;
let port: number;
let url: string;
let table: string;
let times = 0;

/** Resolves once the router has read it. */
async function put(accounts: Record<string, string>): Promise<void> {
  const [one, two] = cells;
  const text = { endpointDomain: 'hooks.test', cells: { one: { url: one.url }, two: { url: two.url } }, accounts };
  await writeFile(`${table}.new`, JSON.stringify(text));
  await rename(`${table}.new`, table);
  if (router === undefined) return;
  times++;
  await eventually(() => router.output().split('The table was read').length > times, { what: 'a new table' });
}

async function newTenant(cell: TestServer): Promise<Tenant> {
  const { id, api_key: key } = (await cell.api('POST', '/tenants', { name: 'T' }, ADMIN_KEY)).body.data;
  const made = (await cell.api('POST', '/sources', { component_code: ECHO }, key)).body.data;
  const { hostname } = new URL(made.configured_props.http.endpoint_url);
  return { id, key, source: made.id, endpoint: hostname.replace('.hooks.test', '') };
}

const through = (method: string, at: string, key: string, body?: unknown) =>
  callApi(`${url}/v1${at}`, method, body, key);
const send = ({ endpoint }: Tenant, body: unknown) => post(`${url}/e/${endpoint}`, body);
const listen = ({ source, key }: Tenant, after?: string) =>
  openEventSource(`${url}/v1/sources/${source}/sse`, key, after);

beforeAll(async () => {
  databases = [await createTestDatabase(), await createTestDatabase()];
  const env = {
    HEADWATER_ADMIN_KEY: ADMIN_KEY,
    HEADWATER_ENDPOINT_DOMAIN: 'hooks.test',
    HEADWATER_TRUSTED_PROXIES: '127.0.0.1',
  };
  const [one, two] = await Promise.all(databases.map((database) => startServer({ databaseUrl: database.url, env })));
  cells = [one as TestServer, two as TestServer];
  table = path.join(await mkdtemp(path.join(tmpdir(), 'headwater-cells-')), 'table.json');
  await put({});
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  router = startProcess({ args: [ROUTER, table, String(port)], env: { HEADWATER_ADMIN_KEY: ADMIN_KEY } });
  await router.untilOutput(/The router listens/);
});
afterAll(async () => {
  await router.end();
  await Promise.all(cells.map((cell) => cell.stop()));
  await Promise.all(databases.map((database) => database.drop()));
});

test('one name leads to the sources and the API of accounts in both cells', async () => {
  const tenants = [await newTenant(cells[0]), await newTenant(cells[1])];
  for (const tenant of tenants) {
    const large = 'x'.repeat(300_000);
    const answer = await send(tenant, { large });
    expect(await answer.text()).toBe(JSON.stringify({ large }));
    const headers = { host: `${tenant.endpoint}.hooks.test`, 'content-type': 'application/json' };
    const named = await rawRequest(port, { method: 'POST', path: '/', headers, body: ['{"n"', ':1}'] });
    expect([named.status, named.text]).toEqual([200, '{"n":1}']);
    expect((await through('GET', '/users/me', tenant.key)).body.data.orgs).toMatchObject([{ id: tenant.id }]);
    const at = `/sources/${tenant.source}/event_summaries?expand=event`;
    // The source answers before its run is over.
    const emitted = async () => (await through('GET', at, tenant.key)).body.data;
    await eventually(async () => (await emitted()).length > 0, { what: 'the event' });
    expect(await emitted()).toMatchObject([{ event: { n: 1 } }]);
  }
  expect((await through('GET', '/users/me', `hw_${'n'.repeat(40)}`)).status).toBe(401);
  expect((await post(`${url}/e/nobody`, {})).status).toBe(404);
  // A key that was unknown a moment ago is that of an account now.
  expect((await send(await newTenant(cells[1]), { n: 1 })).status).toBe(200);
});

test('a cell sees the address of the client behind the proxy and the router', async () => {
  const tenant = await newTenant(cells[1]);
  const headers = { authorization: `Bearer ${tenant.key}`, 'x-forwarded-for': '203.0.113.9' };
  await fetch(`${url}/v1/webhooks?url=https://example.com`, { method: 'POST', headers });
  const { body } = await through('GET', '/audit?action=createWebhook', tenant.key);
  expect(body.data).toMatchObject([{ address: '203.0.113.9' }]);
});

test('events of a stream come through one by one, and its end reaches the cell', async () => {
  const tenant = await newTenant(cells[1]);
  const stream = await listen(tenant);
  for (const n of [1, 2]) {
    await send(tenant, { n });
    await eventually(() => stream.messages.length === n, { what: `message ${n}` });
  }
  expect(stream.messages.map(({ data }) => data.event)).toEqual([{ n: 1 }, { n: 2 }]);
  const streams = async () =>
    (await (await fetch(`${cells[1].url}/metrics`)).text()).match(/^headwater_streams\S* .*$/gm);
  const during = await streams();
  stream.close();
  await eventually(async () => String(await streams()) !== String(during), { what: 'the cell to end the stream' });
});

test('an account moves while it is sent to, and nothing of it is lost or done twice', async () => {
  const [one, two] = cells;
  const tenant = await newTenant(one);
  const stays = await newTenant(one);
  let isOver = false;
  let sent = 0;
  const sending = (async () => {
    for (; !isOver; ) if ((await send(tenant, { n: sent })).status === 200) sent++;
  })();
  const streams: TestEventSource[] = [await listen(tenant)];
  await eventually(() => sent > 5, { what: 'some events' });

  await put({ [tenant.id]: 'moving' });
  await router.untilOutput(new RegExp(`${tenant.id} has no request under way`));
  await streams[0]?.ended;
  const before = sent;
  expect((await send(stays, { n: 1 })).status).toBe(200);
  expect((await one.api('POST', `/tenants/${tenant.id}/suspend`, {}, ADMIN_KEY)).status).toBe(200);
  const archive = await (await exportAs(one, tenant.id)).text();
  expect((await importAs(two, archive)).status).toBe(200);
  expect((await two.api('POST', `/tenants/${tenant.id}/resume`, {}, ADMIN_KEY)).status).toBe(200);
  expect(sent).toBe(before);
  // Two cells have it now: without a row the router does not guess.
  await put({});
  const refused = await send(tenant, { n: sent });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ detail: `${tenant.id} is in the cells one, two` });
  await put({ [tenant.id]: 'two' });

  await eventually(() => sent > before + 5, { what: 'events in the new cell' });
  streams.push(await listen(tenant, streams[0]?.messages.at(-1)?.id));
  isOver = true;
  await sending;
  const events = async (cell: 0 | 1) => {
    const { sql } = (databases[cell] as TestDatabase).db;
    return (await sql`select from events where emitter_id = ${tenant.source}`).length;
  };
  const all = Array.from({ length: sent }, (_, n) => n);
  const streamed = () => streams.flatMap(({ messages }) => messages.map(({ data }) => data.event.n));
  await eventually(() => streamed().includes(sent - 1), { what: 'the end of the stream' });
  expect(streamed()).toEqual(all);
  streams[1]?.close();
  expect([await events(0), await events(1)]).toEqual([before, sent]);
});

test('a cell that is down fails its own accounts only', async () => {
  const [known, stays] = [await newTenant(cells[1]), await newTenant(cells[0])];
  const unseen = await newTenant(cells[1]);
  await send(known, { n: 1 });
  await cells[1].process.end('SIGKILL');
  for (const tenant of [known, unseen]) {
    const answer = await send(tenant, { n: 2 });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.json()).toMatchObject({ error: expect.stringMatching(/^The cell two is away/) });
    expect((await through('GET', '/users/me', tenant.key)).status).toBe(503);
  }
  expect((await send(stays, { n: 1 })).status).toBe(200);
  expect((await through('GET', '/users/me', stays.key)).status).toBe(200);
});

test('a table that is wrong changes nothing', async () => {
  const tenant = await newTenant(cells[0]);
  await writeFile(table, '{"cells":{"one":{"url":"http://127.0.0.1:2"}},"accounts":{"o_1":"three"}}');
  await router.untilOutput(/The table stays as it was: o_1 is in three, which is no cell/);
  expect((await send(tenant, { n: 1 })).status).toBe(200);
});
