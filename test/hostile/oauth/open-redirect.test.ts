// tenancy: Making the OAuth callback send browsers to a stranger's page: other hosts in every spelling, scripts, parameters.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);

const REDIRECTS = [
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  ' //evil.example',
  'http://localhost@evil.example/',
  'http://localhost:80@evil.example/',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  'http://user:password@localhost/',
  'https://localhost/',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'http:/evil.example',
  'http:evil.example',
  '///evil.example',
  'evil.example',
  '',
];

it('each is refused when the flow begins, and what the callback itself says is not a place to go', async () => {
  const { attacker } = world;
  await world.unharmed(async () => {
    for (const redirect of REDIRECTS) {
      const answer = await attacker.api('POST', '/connected_accounts/oauth/start', { app: provider.slug, redirect });
      const paths = answer.body.errors?.map(({ path }: { path: string }) => path);
      expect([redirect, answer.status, paths]).toEqual([redirect, 400, ['redirect']]);
    }
    const { state } = await beginFlow(attacker, provider.slug, { redirect: '/done' });
    const query = { state, error: 'no', redirect: 'https://evil.example', redirect_uri: 'https://evil.example' };
    const ended = await comeBack(world, query);
    expect(new URL(ended.headers.get('location') ?? '').origin).toBe(world.server.url);
    const unknown = await comeBack(world, { ...query, state: 'x' });
    expect([unknown.status, unknown.headers.get('location')]).toEqual([400, null]);
  });
});
