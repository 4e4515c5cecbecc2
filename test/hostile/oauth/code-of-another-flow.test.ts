// secrets: Using a code that was stolen from the neighbour's browser in a flow of one's own, at a real authorization server.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomToken } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';
import { accountIdsOf, asOperator, beginFlow, comeBack } from '../../support/hostile-oauth.ts';
import { browse, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';

const world = hostile();
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
