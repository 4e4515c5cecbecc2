import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomToken } from '../../../shared/src/index.ts';
import {
  accountIdsOf,
  asOperator,
  beginFlow,
  comeBack,
  evilProvider,
  type EvilProvider,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';
import { probeRoutes } from '../../support/hostile-tenancy.ts';
import { hostile } from '../../support/hostile.ts';
import { browse, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';

// tenancy: Reading, using, checking, renaming and deleting a connected account of the neighbour by
// its id, on every route.
describe('accounts-of-others', () => {
  const world = hostile({ ownAccounts: true });
  const KEY = 'sk_live_of_the_neighbour';
  const CODE = `export default { name: 'Steals', version: '1', props: { stripe: { type: 'app', app: 'stripe' } },
  run() { this.$emit(this.stripe.$auth); } };`;

  it('the connected account is answered like an unknown id', async () => {
    const { attacker, neighbour } = world;
    const made = await neighbour.api('POST', '/connected_accounts', { app: 'stripe', credentials: { api_key: KEY } });
    const id = made.body.data.id as string;
    await world.unharmed(async () => {
      for (const prefix of ['/connected_accounts', '/accounts/{id}']) {
        const probes = await probeRoutes(world, prefix, id);
        expect(probes.length).toBeGreaterThan(1);
        for (const { method, path, foreign, unknown } of probes)
          expect([method, path, foreign]).toEqual([method, path, unknown]);
      }
      const props = { stripe: { authProvisionId: id } };
      const refused = await attacker.api('POST', '/sources', { component_code: CODE, configured_props: props });
      expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'configured_props.stripe']);
      const list = await attacker.api('GET', `/workspaces/${neighbour.id}/accounts`);
      expect(list.status).toBe(404);
    });
    const still = await neighbour.api('GET', `/accounts/${id}?include_credentials=1`);
    expect(still.body.data).toMatchObject({ id, name: null, credentials: { api_key: KEY } });
  });

  it('an id that gets into the database past the API is worth nothing in a run', async () => {
    const { attacker, neighbour, sql } = world;
    const made = await neighbour.api('POST', '/connected_accounts', { app: 'stripe', credentials: { api_key: KEY } });
    const own = await attacker.api('POST', '/connected_accounts', { app: 'stripe', credentials: { api_key: 'own' } });
    const source = await attacker.deploy(CODE, { stripe: { authProvisionId: own.body.data.id } });
    const props = JSON.stringify({ stripe: { authProvisionId: made.body.data.id } });
    await sql`update sources set configured_props = ${props}::text::jsonb, revision = revision + 1 where id = ${source.id}`;
    await sql`select pg_notify('headwater_source_changed', ${source.id})`;
    const ran = await world.unharmed(() => world.run(source.id));
    expect(ran.events).toEqual([]);
    expect(ran.error).toMatchObject({
      code: 'AUTH_FAILED',
      message: expect.stringContaining('There is no connected account'),
    });
  });
});

// secrets: Using a code that was stolen from the neighbour's browser in a flow of one's own, at a
// real authorization server.
describe('code-of-another-flow', () => {
  const world = hostile({ ownAccounts: true });
  const slug = `real-${randomToken(12).toLowerCase()}`;
  let provider: OAuthServer;
  beforeAll(async () => {
    provider = await startOAuthServer({ redirectUri: `${world.server.url}/oauth/callback` });
    await asOperator(world, 'POST', '/apps', { name_slug: slug, ...provider.app() });
    const client = { client_id: provider.clientId, client_secret: provider.clientSecret };
    await asOperator(world, 'PUT', `/apps/${slug}/oauth_client`, client);
  });
  afterAll(() => provider.stop());

  it('PKCE binds each code to the flow that it is of', async () => {
    const { attacker, neighbour } = world;
    await world.unharmed(async () => {
      const theirs = await beginFlow(neighbour, slug);
      const stolen = await browse(theirs.url.href, `${world.server.url}/oauth/callback`);
      const own = await beginFlow(attacker, slug);
      const query = { state: own.state, code: stolen.searchParams.get('code') ?? '', iss: provider.url };
      const ended = await comeBack(world, query);
      expect([ended.status, ended.text]).toEqual([400, expect.stringContaining('invalid_grant')]);
    });
    expect(await accountIdsOf(attacker)).toEqual([]);
  });

  it('without its challenge, or with a plain one, a flow does not begin at the provider', async () => {
    await world.unharmed(async () => {
      for (const change of ['delete', 'plain'] as const) {
        const { url } = await beginFlow(world.attacker, slug);
        expect(url.searchParams.get('code_challenge_method')).toBe('S256');
        if (change === 'plain') url.searchParams.set('code_challenge_method', 'plain');
        else for (const name of ['code_challenge', 'code_challenge_method']) url.searchParams.delete(name);
        const back = await browse(url.href, `${world.server.url}/oauth/callback`);
        expect(back.searchParams.get('code')).toBeNull();
        expect((await comeBack(world, back.search.slice(1))).status).toBe(400);
      }
    });
  });
});

// limits: Beginning flow after flow and ending none.
describe('flood-of-flows', () => {
  const world = hostile({ ownAccounts: true });
  const provider = evilProvider(world);

  it('the oldest of one account make room, and those of others stay', async () => {
    const { attacker, neighbour, sql } = world;
    const theirs = await beginFlow(neighbour, provider.slug);
    const oldest = await beginFlow(attacker, provider.slug);
    let newest = oldest;
    await world.unharmed(async () => {
      for (let i = 0; i < 10; i++)
        await Promise.all(Array.from({ length: 15 }, () => beginFlow(attacker, provider.slug)));
      newest = await beginFlow(attacker, provider.slug);
    });
    const [row] = await sql`select count(*)::int as count from oauth_states where account_id = ${attacker.id}`;
    // Some at once may be counted by none of each other.
    expect(row?.['count']).toBeLessThanOrEqual(115);
    expect((await comeBack(world, { state: oldest.state, code: 'c' })).status).toBe(400);
    expect((await comeBack(world, { state: newest.state, code: 'c' })).status).toBe(200);
    expect((await comeBack(world, { state: theirs.state, code: 'c' })).status).toBe(200);
  });
});

// secrets: A provider's answer that arrives in the flow of another one, to have the code taken to
// the wrong token endpoint.
describe('mix-up', () => {
  const world = hostile({ ownAccounts: true });
  let honest: EvilProvider;
  let evil: EvilProvider;
  beforeAll(async () => {
    honest = await startEvilProvider(world, { oauth: { issuer: 'https://honest.example' } });
    evil = await startEvilProvider(world, { oauth: { issuer: 'https://evil.example' } });
  });
  afterAll(async () => {
    await honest.stop();
    await evil.stop();
  });

  it('the code stays where it is, and the flow is over', async () => {
    await world.unharmed(async () => {
      const answers: Record<string, string>[] = [
        { code: 'code-of-the-honest', iss: 'https://honest.example' },
        { code: 'code-of-the-honest' },
        { code: 'code-of-the-honest', iss: 'https://evil.example/' },
        { error: 'access_denied', iss: 'https://honest.example' },
      ];
      for (const answer of answers) {
        const { state } = await beginFlow(world.attacker, evil.slug);
        const ended = await comeBack(world, { state, ...answer });
        expect([answer, ended.status]).toEqual([answer, 400]);
        expect(ended.text).toContain('did not come from Evil');
        expect((await comeBack(world, { state, code: 'x', iss: 'https://evil.example' })).status).toBe(400);
      }
    });
    expect([...honest.tokenRequests(), ...evil.tokenRequests()]).toEqual([]);
  });
});

// limits: A provider that answers a check with a form of a hundred thousand parts, to keep the
// node's thread busy reading it.
describe('form-of-many-parts', () => {
  const world = hostile({ ownAccounts: true });
  const CHECKS_AT_ONCE = 4;
  const ROUNDS = 12;
  /** As many bytes as an answer may have; each of the parts is one that is no UTF-8. */
  const FORM = Buffer.alloc(256 * 1024, Buffer.from([0xff, 0x26]));

  let provider: Server;
  let asked = 0;
  beforeAll(async () => {
    provider = createServer((_, response) => {
      asked += 1;
      response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }).end(FORM);
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
  });

  it('is not read, and the neighbour is answered meanwhile', async () => {
    const { attacker, neighbour } = world;
    const slug = `forms-${randomToken(12).toLowerCase()}`;
    const { port } = provider.address() as AddressInfo;
    await asOperator(world, 'POST', '/apps', {
      name_slug: slug,
      name: 'Forms',
      auth_type: 'keys',
      fields: [{ name: 'api_key', label: 'Key' }],
      test: { url: `http://127.0.0.1:${port}/me`, auth: { type: 'bearer', token: '{{api_key}}' } },
    });
    const made = await attacker.api('POST', '/connected_accounts', {
      app: slug,
      credentials: { api_key: 'a-key-0123' },
    });
    const path = `/connected_accounts/${made.body.data.id as string}/check`;
    await world.unharmed(async () => {
      const before = asked;
      let isUnderWay = true;
      const watching = (async () => {
        while (isUnderWay) {
          expect((await neighbour.api('GET', '/users/me')).status).toBe(200);
        }
      })();
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const checks = Array.from({ length: CHECKS_AT_ONCE }, () => attacker.api('POST', path));
          for (const { status, body } of await Promise.all(checks)) {
            // The status is all there is to go by.
            expect([status, body.data.check.detail]).toEqual([200, `127.0.0.1:${port} answered 200`]);
          }
        }
      } finally {
        isUnderWay = false;
        await watching;
      }
      expect(asked - before).toBe(ROUNDS * CHECKS_AT_ONCE);
    });
  });
});
