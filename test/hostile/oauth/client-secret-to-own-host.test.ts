// secrets: Values of an app's fields that turn its token endpoint into a host of one's own, to be sent the operator's client secret.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
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
