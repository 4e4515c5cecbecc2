import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import {
  accountIdsOf,
  beginFlow,
  comeBack,
  evilProvider,
  type EvilProvider,
  json,
  newTokens,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';
import { hostile } from '../../support/hostile.ts';
import { addLoopbackApp, authorize, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';
import { ADMIN_KEY, deploy, post, startServer, type TestServer } from '../../support/server.ts';
import { makeDue } from '../../support/token-clock.ts';

// secrets: Values of an app's fields that turn its token endpoint into a host of one's own, to be
// sent the operator's client secret.
describe('client-secret-to-own-host', () => {
  const world = hostile({ ownAccounts: true });
  const provider = evilProvider(world, {
    fields: [{ name: 'shop', label: 'Shop' }],
    oauth: {
      authorize_url: 'https://{{shop}}.shops.example/authorize',
      token_url: 'https://{{shop}}.shops.example/token',
      userinfo_url: undefined,
      values: {},
    },
  });

  it('a value is one label of the host or nothing', async () => {
    const { attacker } = world;
    const { host } = new URL(provider.url);
    const values = [
      `${host}/`,
      `${host}#`,
      `${host}?`,
      `${host}\\`,
      `x@${host}/`,
      'evil.example',
      'evil.example%2f',
      'a:b@c',
      '[::1]',
      '..',
      '\u3002',
      'ⓔvil',
      'a\tb',
      'a'.repeat(64),
      { toString: 'x' },
      ['evil'],
    ];
    await world.unharmed(async () => {
      for (const shop of values) {
        const input = { app: provider.slug, fields: { shop } };
        const answer = await attacker.api('POST', '/connected_accounts/oauth/start', input);
        const paths = answer.body.errors?.map(({ path }: { path: string }) => path);
        expect([shop, answer.status, paths]).toEqual([shop, 400, ['fields.shop']]);
      }
      // Nor can any account read it.
      const own = { client_id: 'own', client_secret: 'own-secret-of-the-attacker' };
      for (const answer of [
        await attacker.api('PUT', `/users/me/oauth_clients/${provider.slug}`, own),
        await attacker.api('GET', '/users/me/oauth_clients'),
        await attacker.api('GET', `/apps/${provider.slug}`),
        await attacker.api('PUT', `/apps/${provider.slug}/oauth_client`, own),
      ]) {
        expect(answer.text).not.toContain(provider.clientSecret);
        expect(answer.text).not.toContain(own.client_secret);
      }
    });
    expect(provider.receiver.requests).toEqual([]);
  });
});

// secrets: A provider whose errors repeat what it was sent, and whose words are markup and control
// characters.
describe('secrets-in-provider-errors', () => {
  const world = hostile({ ownAccounts: true });
  let provider: EvilProvider;
  let isRefusing = true;
  beforeAll(async () => {
    provider = await startEvilProvider(world, {
      token: ({ body }) =>
        isRefusing
          ? json({ error: 'invalid_grant', error_description: `<script>alert(1)</script>\r\n\u001b[31m${body}` }, 400)
          : json(newTokens()),
      userinfo: () => json({ sub: '<img src=x onerror=alert(1)>' }),
    });
  });
  afterAll(() => provider.stop());

  it('pages and stored rows hold neither', async () => {
    const { attacker, sql } = world;
    await world.unharmed(async () => {
      isRefusing = true;
      const failing = await beginFlow(attacker, provider.slug);
      const page = await comeBack(world, { state: failing.state, code: 'the-code-of-this-flow' });
      const verifier = provider.tokenRequests().at(-1)?.get('code_verifier') ?? '?';
      for (const secret of [provider.clientSecret, 'the-code-of-this-flow', verifier])
        expect(page.text).not.toContain(secret);
      expect(page.text).not.toMatch(/<script|\u001b/);
      expect(page.text).toContain('&lt;script&gt;');

      isRefusing = false;
      const working = await beginFlow(attacker, provider.slug);
      const done = await comeBack(world, { state: working.state, code: 'another-code' });
      expect(done.status).toBe(200);
      expect(done.text).not.toContain('<img');
      const [id = ''] = await accountIdsOf(attacker);
      const before = (await attacker.api('GET', `/accounts/${id}?include_credentials=1`)).body.data.credentials;
      isRefusing = true;
      await sql`update connected_accounts set refresh_at = now() where id = ${id}`;
      const refused = await attacker.api('GET', `/accounts/${id}?include_credentials=1`);
      expect(refused.status).toBe(422);
      const shown = await attacker.api('GET', `/accounts/${id}`);
      const [row] = await sql`select reason from connected_accounts where id = ${id}`;
      for (const text of [refused.text, shown.text, String(row?.['reason'])]) {
        expect(text).toContain('invalid_grant');
        for (const secret of [provider.clientSecret, before.oauth_refresh_token, before.oauth_access_token]) {
          expect(text).not.toContain(secret);
        }
      }
    });
  });
});

// secrets: States, codes, tokens and client secrets in the log of the server, at its most
// talkative, over a whole flow.
describe('tokens-in-server-log', () => {
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' },
  run(event) { this.$emit(event.body); } };`;

  const world = hostile({ ownAccounts: true });
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
});

// database: Hundreds who ask for the credentials of an account at once, whose new token is always
// just being fetched.
describe('token-that-never-comes', () => {
  const world = hostile({ ownAccounts: true });
  const provider = evilProvider(world);
  const REQUESTS = 300;
  const CHECKS = 20;
  const WAITED_MS = 4_000;
  /**
   * Each of them reads the account once before it waits, and others attack meanwhile. Looking ten
   * times a second, they made thousands.
   */
  const MAX_SCANS = 1_500;

  /** How often the table of connected accounts was looked at. */
  async function scans(): Promise<number> {
    const [row] = await world.sql<{ count: number }[]>`
    select (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::float8 as count
    from pg_stat_user_tables where relname = 'connected_accounts'`;
    return row?.count ?? 0;
  }

  it('wait as one, and the database has time for others', async () => {
    const { attacker, neighbour, sql } = world;
    const { state } = await beginFlow(attacker, provider.slug);
    expect((await comeBack(world, { state, code: 'a-code' })).status).toBe(200);
    const [id = ''] = await accountIdsOf(attacker);
    await world.unharmed(async () => {
      const asked = provider.tokenRequests().length;
      // As if another node had gone away while it fetched one.
      await sql`
      update connected_accounts set expires_at = now(), refresh_at = now(), refresh_until = now() + interval '1 minute'
      where id = ${id}`;
      const before = await scans();
      const gets = Array.from({ length: REQUESTS }, () => attacker.api('GET', `/accounts/${id}?include_credentials=1`));
      const checks = Array.from({ length: CHECKS }, () => attacker.api('POST', `/connected_accounts/${id}/check`));
      await sleep(WAITED_MS);
      expect((await neighbour.api('GET', '/connected_accounts')).status).toBe(200);
      expect((await scans()) - before).toBeLessThan(MAX_SCANS);
      await sql`update connected_accounts set refresh_until = null where id = ${id}`;
      const got = await Promise.all(gets);
      expect(new Set(got.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(got.map(({ body }) => body.data.credentials.oauth_access_token)).size).toBe(1);
      for (const { status } of await Promise.all(checks)) expect(status).toBe(200);
      expect(provider.tokenRequests().length - asked).toBe(1);
    });
  });
});
