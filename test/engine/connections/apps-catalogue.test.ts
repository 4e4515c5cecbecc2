import { afterAll, beforeAll, expect, it } from 'vitest';
import { starterCatalogue } from '../../../engine/src/connections/catalogue/catalogue.ts';
import { fillUrl } from '../../../engine/src/connections/apps/fill-template.ts';
import { findAppFaults } from '../../../engine/src/connections/apps/validate-app.ts';
import { seedApps } from '../../../engine/src/connections/apps/apps.sql.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await startHeadwater();
});
afterAll(async () => headwater.stop());

const errorsOf = (text: string) => (JSON.parse(text) as { errors: { path: string }[] }).errors.map(({ path }) => path);

it('the starter catalogue has at least 30 apps, each of them valid and with a slug of its own', () => {
  const apps = starterCatalogue();
  expect(apps.length).toBeGreaterThanOrEqual(30);
  expect(new Set(apps.map(({ slug }) => slug)).size).toBe(apps.length);
  for (const app of apps) expect([app.slug, findAppFaults(app)]).toEqual([app.slug, []]);
  const kinds = Map.groupBy(apps, ({ authType }) => authType);
  expect(kinds.get('oauth2')?.length).toBeGreaterThanOrEqual(20);
  expect(kinds.get('keys')?.length).toBeGreaterThanOrEqual(10);
});

it('requests to the provider of an app go by https', () => {
  const urls = starterCatalogue().flatMap(({ oauth, test }) => [
    oauth?.authorizeUrl,
    oauth?.tokenUrl,
    oauth?.revokeUrl,
    oauth?.userinfoUrl,
    test?.url,
  ]);
  const plain = urls.filter((url) => url !== undefined && !url.startsWith('https://'));
  expect(plain).toEqual([]);
});

it('the catalogue is listed in the order of slugs, in pages, and searched by slug and name', async () => {
  const all = await headwater.api('GET', '/apps', { limit: 100 });
  const slugs = (all.data as { name_slug: string }[]).map((app) => app.name_slug);
  expect(slugs).toEqual([...slugs].sort());
  expect(slugs).toHaveLength(starterCatalogue().length);
  const paged: string[] = [];
  let after = '';
  for (;;) {
    const page = await headwater.api('GET', '/apps', { limit: 25, ...(after === '' ? {} : { after }) });
    const info = (JSON.parse(page.text) as { page_info: { end_cursor: string | null; total_count: number } }).page_info;
    paged.push(...(page.data as { name_slug: string }[]).map((app) => app.name_slug));
    expect(info.total_count).toBe(slugs.length);
    if (info.end_cursor === null || page.data.length < 25) break;
    after = info.end_cursor;
  }
  expect(paged).toEqual(slugs);
  const found = await headwater.api('GET', '/apps', { q: 'GOOGLE_s' });
  expect(found.data.map((app: { name_slug: string }) => app.name_slug)).toEqual(['google_sheets']);
  expect((await headwater.api('GET', '/apps', { q: 'monday.com' })).data[0].name_slug).toBe('monday');
  expect((await headwater.api('GET', '/apps', { q: '%' })).data).toEqual([]);
  expect((await headwater.api('GET', '/apps', { after: 'no cursor' })).status).toBe(400);
});

it('an app is found by slug and by id, and names its fields', async () => {
  const { data: bySlug } = await headwater.api('GET', '/apps/zendesk');
  expect(bySlug).toMatchObject({
    id: expect.stringMatching(/^app_/),
    name_slug: 'zendesk',
    auth_type: 'oauth2',
    oauth_client: null,
    fields: [{ name: 'subdomain', label: 'Subdomain' }],
    oauth: { token_url: 'https://{{subdomain}}.zendesk.com/oauth/tokens', pkce: true },
  });
  expect((await headwater.api('GET', `/apps/${bySlug.id}`)).data).toEqual(bySlug);
  expect((await headwater.api('GET', '/apps/no-such-app')).status).toBe(404);
});

const custom = {
  name: 'Custom',
  auth_type: 'keys',
  fields: [{ name: 'api_key', label: 'Key' }],
  test: { url: 'https://api.example.com/me', auth: { type: 'bearer', token: '{{api_key}}' } },
};

it('only the operator adds apps to the catalogue and changes them', async () => {
  const made = await headwater.admin('POST', '/apps', { name_slug: 'custom', ...custom });
  expect(made.data).toMatchObject({ name_slug: 'custom', ...custom });
  expect((await headwater.admin('POST', '/apps', { name_slug: 'custom', ...custom })).status).toBe(409);
  const changed = await headwater.admin('PUT', '/apps/custom', { ...custom, name: 'Changed' });
  expect(changed.data).toMatchObject({ id: made.data.id, name_slug: 'custom', name: 'Changed' });
  expect((await headwater.api('PUT', '/apps/custom', custom)).status).toBe(403);
  expect((await headwater.as('hw_unknown')('POST', '/apps', { name_slug: 'other', ...custom })).status).toBe(401);
  expect((await headwater.admin('PUT', '/apps/none', custom)).status).toBe(404);
});

it('everything that is wrong with an app is named at once', async () => {
  const wrong = await headwater.admin('POST', '/apps', {
    name_slug: 'No Slug!',
    name: 'Wrong',
    auth_type: 'oauth2',
    fields: [
      { name: 'oauth_access_token', label: 'Mine' },
      { name: 'host', label: 'Host', default: 'x' },
      { name: 'host', label: 'Host' },
    ],
    oauth: {
      authorize_url: 'http://example.com/authorize',
      token_url: 'https://{{host}}/token',
      userinfo_url: 'https://api.example.com/{{nothing}}',
      scopes: [],
      pkce: false,
      token_auth: 'none',
      authorize_parameters: { redirect_uri: 'https://evil.example' },
      values: { oauth_uid: 'elsewhere.id' },
    },
  });
  expect(wrong.status).toBe(400);
  expect(errorsOf(wrong.text)).toEqual([
    'slug',
    'fields.0.name',
    'fields.1.default',
    'fields.2.name',
    'oauth.authorize_url',
    'oauth.token_url',
    'oauth.userinfo_url',
    'oauth.authorize_parameters.redirect_uri',
    'oauth.values.oauth_uid',
    'oauth.pkce',
  ]);
});

it('a new version of the catalogue reaches the apps that no operator has changed', async () => {
  await headwater.admin('PUT', '/apps/sentry', { ...custom, name: 'Our Sentry' });
  const [stripe, sentry] = ['stripe', 'sentry'].map((slug) => starterCatalogue().find((app) => app.slug === slug));
  if (stripe === undefined || sentry === undefined) throw new Error('The catalogue has neither');
  const before = (await headwater.api('GET', '/apps/stripe')).data;
  await seedApps(headwater.sql, [
    { ...stripe, name: 'Stripe II' },
    { ...sentry, name: 'Sentry II' },
  ]);
  expect((await headwater.api('GET', '/apps/stripe')).data).toMatchObject({ id: before.id, name: 'Stripe II' });
  expect((await headwater.api('GET', '/apps/sentry')).data.name).toBe('Our Sentry');
});

it('a value never leaves its place in a URL', () => {
  const shop = 'https://{{shop}}.example.com/{{path}}?q={{path}}';
  const filled = (fields: Record<string, string>) => {
    const made = fillUrl(shop, fields);
    return made.ok ? made.url.href : made.field;
  };
  expect(filled({ shop: 'acme', path: '../a b/c?d#e&f' })).toBe(
    'https://acme.example.com/..%2Fa%20b%2Fc%3Fd%23e%26f?q=..%2Fa%20b%2Fc%3Fd%23e%26f',
  );
  for (const shopName of [
    'evil.example/',
    'evil.example#',
    'a@evil',
    'evil.example?',
    '',
    'a:80',
    '-a',
    'a\\',
    'ä',
    '127.0.0.1',
  ]) {
    expect([shopName, filled({ shop: shopName, path: 'x' })]).toEqual([shopName, 'shop']);
  }
  // Dots alone lead out of a path; encoding leaves them as they are.
  for (const dots of ['.', '..']) expect([dots, filled({ shop: 'acme', path: dots })]).toEqual([dots, 'path']);
  for (const name of ['...', '.well-known', 'v1.2', '%2e%2e']) {
    expect(filled({ shop: 'acme', path: name })).toContain(`example.com/${encodeURIComponent(name)}?`);
  }
});
