import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rotateSecrets } from '../../../engine/src/index.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { addLoopbackApp, authorize, connect, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';
import { makeDataDir } from '../../support/run-folder.ts';
import { ADMIN_KEY, startServer, type TestServer } from '../../support/server.ts';
import { makeDue } from '../../support/token-clock.ts';

const [OLD_KEY, NEW_KEY] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

let database: TestDatabase;
let provider: OAuthServer;
let nodes: TestServer[];

beforeAll(async () => {
  database = await createTestDatabase();
  nodes = await Promise.all([1, 2].map(() => start(OLD_KEY, NEW_KEY)));
  provider = await startOAuthServer({ redirectUri: `${first().url}/oauth/callback` });
  await addLoopbackApp(clientOf(first()), provider);
});
afterAll(async () => {
  await provider.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await database.drop();
});

function start(key: string, old: string): Promise<TestServer> {
  const env = { HEADWATER_ENCRYPTION_KEY: key, HEADWATER_ENCRYPTION_KEYS_OLD: old };
  return startServer({ databaseUrl: database.url, env });
}

function first(): TestServer {
  const [node] = nodes;
  if (node === undefined) throw new Error('No node');
  return node;
}

/** A node as the helpers of the flow want it. */
function clientOf(server: TestServer) {
  const call =
    (key?: string) =>
    async (method: string, path: string, body: Record<string, unknown> = {}) => {
      const query = method === 'GET' ? `?${new URLSearchParams(body as Record<string, string>).toString()}` : '';
      const answer = await server.api(method, path + query, method === 'GET' ? undefined : body, key);
      return { status: answer.status, data: answer.body?.data, text: answer.text };
    };
  return { url: server.url, api: call(), admin: call(ADMIN_KEY) };
}

const tokenFrom = async (node: TestServer, id: string) => {
  const { status, data, text } = await clientOf(node).api('GET', `/accounts/${id}`, { include_credentials: '1' });
  if (status !== 200) throw new Error(text);
  return data.credentials.oauth_access_token as string;
};

it('nodes that need a new token at the same time make one refresh together', async () => {
  const id = await connect(clientOf(first()));
  for (let round = 1; round <= 3; round++) {
    const before = provider.tokenRequests().length;
    await makeDue(database.db.sql, id, { expired: true });
    const calls = nodes.flatMap((node) => Array.from({ length: 8 }, () => tokenFrom(node, id)));
    expect(new Set(await Promise.all(calls)).size).toBe(1);
    expect(provider.tokenRequests().length - before).toBe(1);
  }
  // The provider ends all tokens of a grant if a refresh token arrives twice. They still work.
  const me = await fetch(`${provider.url}/me`, {
    headers: { authorization: `Bearer ${await tokenFrom(first(), id)}` },
  });
  expect(me.status).toBe(200);
});

it('a lease that its node did not end is over after its time', async () => {
  const id = await connect(clientOf(first()));
  const before = await tokenFrom(first(), id);
  await makeDue(database.db.sql, id, { expired: true });
  await database.db.sql`update connected_accounts set refresh_until = now() + interval '1 second' where id = ${id}`;
  expect(await tokenFrom(first(), id)).not.toBe(before);
});

it('a flow that began on one node ends on another', async () => {
  const callback = await authorize(clientOf(first()));
  const other = nodes[1];
  if (other === undefined) throw new Error('No second node');
  const page = await fetch(other.url + callback.pathname + callback.search);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('is connected')]);
});

it('a run on a node sees a change made on another', async () => {
  const code = (n: number) => `export default { name: 'Tells', version: '${n}', props: { http: '$.interface.http',
    stripe: { type: 'app', app: 'stripe' } }, run() { this.$emit({ length: this.stripe.$auth.api_key.length }); } };`;
  const api = clientOf(first());
  const made = await api.api('POST', '/connected_accounts', {
    app: 'stripe',
    credentials: { api_key: 'a'.repeat(10) },
  });
  const { id } = made.data as { id: string };
  const deployed = await api.api('POST', '/sources', {
    component_code: code(1),
    configured_props: { stripe: { authProvisionId: id } },
  });
  const source = deployed.data as { id: string; configured_props: { http: { endpoint_url: string } } };
  const path = new URL(source.configured_props.http.endpoint_url).pathname;
  const lengthSeen = async () => {
    await fetch(first().url + path, { method: 'POST', body: '{}' });
    const { data } = await api.api('GET', `/sources/${source.id}/event_summaries`, { expand: 'event', limit: '1' });
    return (data as { event: { length: number } }[])[0]?.event.length;
  };
  await eventually(async () => (await lengthSeen()) === 10);
  const other = nodes[1];
  if (other === undefined) throw new Error('No second node');
  await clientOf(other).api('PUT', `/connected_accounts/${id}`, { credentials: { api_key: 'b'.repeat(25) } });
  expect(await eventually(async () => (await lengthSeen()) === 25)).toBe(true);
});

it('replacing the encryption key covers accounts, clients and flows under way', async () => {
  const id = await connect(clientOf(first()));
  const callback = await authorize(clientOf(first()));
  const before = await tokenFrom(first(), id);
  await Promise.all(nodes.map((node) => node.stop()));
  const [node] = (nodes = [await start(NEW_KEY, OLD_KEY)]);
  const rotated = await rotateSecrets({
    databaseUrl: database.url,
    dataDir: makeDataDir(),
    encryptionKey: NEW_KEY,
    oldEncryptionKeys: [OLD_KEY],
    log: testLog,
  });
  expect(rotated).toMatchObject({ complete: true, unopened: [] });
  await node?.stop();
  nodes = [await start(NEW_KEY, '')];
  expect(await tokenFrom(first(), id)).toBe(before);
  await makeDue(database.db.sql, id, { expired: true });
  expect(await tokenFrom(first(), id)).not.toBe(before);
  const page = await fetch(first().url + callback.pathname + callback.search);
  expect(await page.text()).toContain('is connected');
});
