import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let headwater: Headwater;
let service: Receiver;
let accepted: string;

beforeAll(async () => {
  headwater = await startHeadwater();
  service = await startReceiver();
  service.answer = ({ headers }) => ({ status: headers['x-key'] === accepted ? 200 : 401, body: '{}' });
  await headwater.admin('POST', '/apps', {
    name_slug: 'keyed',
    name: 'Keyed',
    auth_type: 'keys',
    fields: [
      { name: 'api_key', label: 'Key' },
      { name: 'host', label: 'Host', secret: false },
      { name: 'region', label: 'Region', optional: true, default: 'eu', secret: false },
    ],
    test: { url: 'https://{{host}}/me', auth: { type: 'header', name: 'x-key', value: '{{api_key}}' } },
  });
});
afterAll(async () => {
  await service.stop();
  await headwater.stop();
});

const KEYS = { api_key: 'key-0123456789', host: 'api.example.com' };
const create = async (credentials: Record<string, unknown> = KEYS, name = 'Mine') =>
  headwater.api('POST', '/connected_accounts', { app: 'keyed', name, credentials });

it('keys are kept sealed and shown only when asked for', async () => {
  const made = await create();
  expect(made.data).toMatchObject({ name: 'Mine', app: { name_slug: 'keyed' }, healthy: true, expires_at: null });
  expect(made.text).not.toContain(KEYS.api_key);
  const { id } = made.data;
  expect((await headwater.api('GET', `/accounts/${id}`)).text).not.toContain(KEYS.api_key);
  const shown = await headwater.api('GET', `/accounts/${id}`, { include_credentials: 1 });
  expect(shown.data.credentials).toEqual({ ...KEYS, region: 'eu' });
  const [row] = await headwater.sql`select credentials from connected_accounts where id = ${id}`;
  expect(row?.['credentials']).toMatch(/^v2\./);
});

it('everything that is wrong with credentials is named at once', async () => {
  const wrong = await create({ api_key: 5, region: ' ', other: 'x' });
  expect(wrong.status).toBe(400);
  const { errors } = JSON.parse(wrong.text) as { errors: { path: string; message: string }[] };
  expect(errors).toEqual([
    { path: 'credentials.api_key', message: 'must be a string, not number' },
    { path: 'credentials.host', message: 'is required' },
    { path: 'credentials.region', message: 'must not be empty' },
    { path: 'credentials.other', message: 'is not a field of keyed, which has api_key, host, region' },
  ]);
  const long = await create({ ...KEYS, api_key: 'x'.repeat(70_000) });
  expect([long.status, JSON.parse(long.text)]).toMatchObject([
    400,
    { limit: { name: 'maxCredentialsBytes', value: 65_536, used: 70_017 } },
  ]);
  const oauth = await headwater.api('POST', '/connected_accounts', { app: 'github', credentials: {} });
  expect([oauth.status, oauth.text]).toEqual([400, expect.stringContaining('OAuth')]);
  const none = await headwater.api('POST', '/connected_accounts', { app: 'http', credentials: {} });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining('needs no account')]);
});

it('accounts are listed in the places where people look for them, by app', async () => {
  const { data: made } = await create();
  const { data: other } = await headwater.api('POST', '/connected_accounts', {
    app: 'stripe',
    credentials: { api_key: 'sk_test_1' },
  });
  const list = async (path: string, parameters = {}) =>
    ((await headwater.api('GET', path, { limit: 100, ...parameters })).data as { id: string }[]).map(({ id }) => id);
  const places = ['/connected_accounts', '/users/me/accounts', `/workspaces/${headwater.accountId}/accounts`];
  for (const place of [...places, `/orgs/${headwater.accountId}/accounts`]) {
    const all = await list(place);
    expect(all.slice(0, 2)).toEqual([other.id, made.id]);
    expect(await list(place, { query: 'stripe' })).toEqual([other.id]);
    expect(await list(place, { app: 'stripe' })).toEqual([other.id]);
    expect(await list(place, { query: 'STRI' })).toEqual([other.id]);
    expect(await list(place, { query: 'nothing-of-this-name' })).toEqual([]);
  }
  expect((await headwater.api('GET', '/connected_accounts', { app: 'unknown-app' })).status).toBe(400);
  expect((await headwater.api('GET', '/workspaces/o_other/accounts')).status).toBe(404);
});

it('an account is renamed and given other keys', async () => {
  const { data: made } = await create();
  const path = `/connected_accounts/${made.id}`;
  expect((await headwater.api('PUT', path, { name: 'Other' })).data.name).toBe('Other');
  expect((await headwater.api('PUT', path, { name: '' })).data.name).toBeNull();
  expect((await headwater.api('PUT', path, { credentials: { api_key: 'only' } })).status).toBe(400);
  await headwater.api('PUT', path, { credentials: { ...KEYS, api_key: 'new-key' } });
  expect((await headwater.api('GET', path, { include_credentials: 1 })).data.credentials.api_key).toBe('new-key');
});

it('a check uses the app’s own request, and only a refusal makes an account dead', async () => {
  const app = (await headwater.api('GET', '/apps/keyed')).data;
  const { host } = new URL(service.url);
  const { name, auth_type, fields, test } = app;
  const changed = { name, auth_type, fields, test: { ...test, url: `${service.url}/me` } };
  expect((await headwater.admin('PUT', '/apps/keyed', changed)).status).toBe(200);
  const { data: made } = await create({ ...KEYS, host });
  const check = async () => (await headwater.api('POST', `/connected_accounts/${made.id}/check`)).data;
  accepted = KEYS.api_key;
  expect(await check()).toMatchObject({ healthy: true, check: { conclusive: true, detail: `${host} answered 200` } });
  accepted = 'another';
  expect(await check()).toMatchObject({ dead: true, error: `${host} answered 401` });
  service.script({ status: 403 });
  expect(await check()).toMatchObject({ dead: true, check: { conclusive: false, detail: `${host} answered 403` } });
  service.script({ hangUp: true }, { hangUp: true });
  expect(await check()).toMatchObject({
    check: { conclusive: false, detail: expect.stringContaining('closed the connection') },
  });
  service.script({ status: 302, headers: { location: '/elsewhere' } });
  expect(await check()).toMatchObject({ check: { conclusive: false, detail: expect.stringContaining('redirect') } });
  accepted = KEYS.api_key;
  expect(await check()).toMatchObject({ healthy: true, error: null });
  // The health of old keys does not apply to new ones.
  accepted = 'another';
  await check();
  expect(
    (await headwater.api('PUT', `/connected_accounts/${made.id}`, { credentials: { ...KEYS, host } })).data,
  ).toMatchObject({ dead: false });

  const { data: untestable } = await headwater.api('POST', '/connected_accounts', {
    app: 'monday',
    credentials: { api_key: 'x' },
  });
  expect((await headwater.api('POST', `/connected_accounts/${untestable.id}/check`)).data.check.conclusive).toBe(false);
});

it('deleting takes the keys along', async () => {
  const { data: made } = await create();
  const deleted = await headwater.api('DELETE', `/connected_accounts/${made.id}`);
  expect(deleted.data).toEqual({ id: made.id, revocation: { status: 'not-supported', detail: expect.any(String) } });
  expect((await headwater.api('DELETE', `/connected_accounts/${made.id}`)).status).toBe(404);
  const [row] = await headwater.sql`select credentials from connected_accounts where id = ${made.id}`;
  expect(row).toEqual({ credentials: null });
});
