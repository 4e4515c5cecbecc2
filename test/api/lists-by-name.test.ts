import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { makeMember } from '../support/members.ts';

let headwater: Headwater;
let other: Headwater;

beforeAll(async () => {
  headwater = await sharedHeadwater();
  other = await headwater.newAccount();
});
afterAll(async () => {
  await other.stop();
  await headwater.stop();
});

const step = { namespace: 'one', component_code: 'export default { run() {} }' };
const namesAt = async (path: string, q: string) => {
  const { status, data } = await headwater.api('GET', path, { q });
  expect(status).toBe(200);
  return data.map(({ name }: { name: string }) => name);
};

test('q finds sources, workflows and webhooks by a part of their name, in either case', async () => {
  for (const name of ['Billing EU', 'billing_us', 'Orders']) {
    await headwater.api('POST', '/sources', { kind: 'ingest', name });
    await headwater.api('POST', '/workflows', { name, triggers: [], steps: [step] });
    await headwater.api('POST', '/webhooks', { name, url: `https://example.com/${name.at(-1)}` });
  }
  await other.api('POST', '/sources', { kind: 'ingest', name: 'Billing of a neighbour' });
  for (const noun of ['sources', 'workflows', 'webhooks']) {
    expect(await namesAt(`/users/me/${noun}`, 'BILLING')).toEqual(['billing_us', 'Billing EU']);
    expect(await namesAt(`/${noun}`, 'rder')).toEqual(['Orders']);
    expect(await namesAt(`/${noun}`, '')).toHaveLength(3);
    expect(await namesAt(`/${noun}`, 'nothing')).toEqual([]);
  }
});

test('q is text: wildcards and quotes stand for themselves', async () => {
  expect(await namesAt('/sources', '%')).toEqual([]);
  expect(await namesAt('/sources', 'billing_')).toEqual(['billing_us']);
  expect(await namesAt('/sources', "' or true --")).toEqual([]);
});

test('q finds by a part of the id, and webhooks by their URL', async () => {
  const { data } = await headwater.api('GET', '/webhooks', { q: 'example.com/U' });
  expect(data).toMatchObject([{ name: 'Billing EU' }]);
  expect(await namesAt('/webhooks', data[0].id.slice(4))).toEqual(['Billing EU']);
});

test('pages of what was found lead on, and are counted', async () => {
  const first = await headwater.api('GET', '/sources', { q: 'billing', limit: 1 });
  const { page_info: info } = JSON.parse(first.text);
  expect(info).toMatchObject({ count: 1, total_count: 2 });
  const next = await headwater.api('GET', '/sources', { q: 'billing', limit: 1, after: info.end_cursor });
  expect([...first.data, ...next.data].map(({ name }) => name)).toEqual(['billing_us', 'Billing EU']);
});

test('owner finds the sources of one user, and me those of the caller', async () => {
  const ada = await makeMember(other, 'ada.of.lists@example.com', 'developer');
  const { data: made } = await ada.api('POST', '/sources', { kind: 'ingest', name: 'Billing of Ada' });
  const found = async (api: Headwater['api'], query: Record<string, string>) => {
    const { status, data } = await api('GET', '/users/me/sources', query);
    expect(status).toBe(200);
    return data.map(({ name }: { name: string }) => name);
  };
  expect(await found(other.api, { owner: made.user_id })).toEqual(['Billing of Ada']);
  await other.api('POST', '/sources', { kind: 'ingest', name: 'Made with the key' });
  expect(await found(other.api, { owner: 'me' })).toContain('Made with the key');
  expect(await found(other.api, { owner: 'me' })).not.toContain('Billing of Ada');
  expect(await found(ada.api, { owner: 'me' })).toEqual(['Billing of Ada']);
  expect(await found(ada.api, { owner: 'me', q: 'key' })).toEqual([]);
  // A user of another account has made nothing here.
  expect(await found(headwater.api, { owner: made.user_id })).toEqual([]);
});

test('an owner that is no id is refused by name', async () => {
  for (const owner of ['', 'x'.repeat(10_000)]) {
    const { status, text } = await headwater.api('GET', '/sources', { owner });
    expect([owner.length, status]).toEqual([owner.length, 400]);
    expect(text).toContain('"owner"');
  }
});

test('a text that is too long is refused by name', async () => {
  const { status, text } = await headwater.api('GET', '/sources', { q: 'x'.repeat(10_000) });
  expect(status).toBe(400);
  expect(text).toContain('"q"');
});
