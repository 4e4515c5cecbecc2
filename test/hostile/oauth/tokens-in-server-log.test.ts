// secrets: States, codes, tokens and client secrets in the log of the server, at its most talkative, over a whole flow.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { hostile } from '../../support/hostile.ts';
import { addLoopbackApp, authorize, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';
import { ADMIN_KEY, deploy, post, startServer, type TestServer } from '../../support/server.ts';
import { makeDue } from '../../support/token-clock.ts';

const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' },
  run(event) { this.$emit(event.body); } };`;

const world = hostile();
let database: TestDatabase;
let server: TestServer;
let provider: OAuthServer;
beforeAll(async () => {
  database = await createTestDatabase();
  server = await startServer({ databaseUrl: database.url, env: { HEADWATER_LOG_LEVEL: 'trace' } });
  provider = await startOAuthServer({ redirectUri: `${server.url}/oauth/callback` });
});
afterAll(async () => {
  await provider.stop();
  await server.stop();
  await database.drop();
});

interface Flow {
  id: string;
  secrets: string[];
}

/** One that ends well, with a refresh, and what fails afterwards. */
async function goThroughFlow(client: Parameters<typeof authorize>[0]): Promise<Flow> {
  const callback = await authorize(client);
  const id = /apn_\w+/.exec(await (await fetch(callback)).text())?.[0] ?? '';
  const credentials = async () =>
    (await server.api('GET', `/accounts/${id}?include_credentials=1`)).body.data?.credentials;
  const before = await credentials();
  await makeDue(database.db.sql, id);
  const after = await credentials();
  // A refresh that fails, and a flow that does.
  provider.revokeAll();
  await makeDue(database.db.sql, id);
  expect(await credentials()).toBeUndefined();
  await fetch(callback);
  await server.api('DELETE', `/accounts/${id}`);

  const ofCallback = ['state', 'code'].map((name) => callback.searchParams.get(name) ?? '');
  const ofAccount = [before, after].flatMap((each) => [each.oauth_access_token, each.oauth_refresh_token]);
  return { id, secrets: [...ofCallback, ...ofAccount] };
}

it('the log names routes and ids, and none of them', async () => {
  const call =
    (key?: string) =>
    async (method: string, path: string, body: Record<string, unknown> = {}) => {
      const { status, text, body: answer } = await server.api(method, path, method === 'GET' ? undefined : body, key);
      return { status, text, data: answer?.data };
    };
  const client = { url: server.url, api: call(), admin: call(ADMIN_KEY) };
  await addLoopbackApp(client, provider);
  const flows: Flow[] = [];
  await world.unharmed(async () => void flows.push(await goThroughFlow(client)));

  const log = server.process.output();
  expect(log).toContain('/oauth/callback');
  for (const { id } of flows) expect(log).toContain(id);
  const verifiers = provider.tokenRequests().flatMap((body) => body.get('code_verifier') ?? []);
  expect(verifiers).toHaveLength(flows.length);
  for (const secret of [...flows.flatMap(({ secrets }) => secrets), ...verifiers, provider.clientSecret]) {
    expect(secret).not.toBe('');
    expect(log).not.toContain(secret);
  }

  const key = (await server.api('POST', '/accounts', { name: 'neighbour' }, ADMIN_KEY)).body.data.api_key as string;
  const source = await deploy(server, BIN, { key });
  expect((await post(source.endpoint, {})).status).toBe(200);
  const stored = () => database.db.sql`select from events where emitter_id = ${source.id}`;
  await expect.poll(stored).toHaveLength(1);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});
