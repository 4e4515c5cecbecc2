import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSessions } from '../../engine/src/accounts/sessions.ts';
import { fixedKeys } from '../../engine/src/secrets/master-key.ts';
import { createSealer } from '../../engine/src/secrets/seal.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const SOURCE = `export default { name: 'S', version: '1.0.0', async run() { this.$emit({ hello: 1 }); } };`;

const makeToken = async (api: Headwater['api'], parameters = {}) =>
  (await api('POST', '/streams/token', parameters)).data.token as string;

/** The status of a stream that is opened as a browser does, without a header. */
async function statusOf(path: string, token: string): Promise<number> {
  const abort = new AbortController();
  const answer = await fetch(`${hw.url}/v1${path}?token=${encodeURIComponent(token)}`, { signal: abort.signal });
  abort.abort();
  return answer.status;
}

test('the EventSource of a browser gets 401 without a token, and events with one', async () => {
  const browser: TestBrowser = await startBrowser();
  const source = await hw.deploy(SOURCE);
  await hw.api('POST', `/sources/${source.id}/run`, { event: {} });
  await hw.untilEvents(source.id, 1);
  const { page } = await browser.open();
  await page.goto(`${hw.url}/healthz`);
  const listen = (query: string) =>
    page.evaluate(`new Promise((resolve) => {
      const source = new EventSource('/v1/sources/${source.id}/sse?expand=event${query}');
      source.onmessage = ({ data }) => { source.close(); resolve(JSON.parse(data).event); };
      source.onerror = () => { if (source.readyState === 2) resolve('refused'); };
    })`);
  expect(await listen('')).toBe('refused');
  const token = await makeToken(hw.api, { emitter_id: source.id });
  expect(await listen(`&token=${encodeURIComponent(token)}`)).toEqual({ hello: 1 });
  await browser.stop();
}, 60_000);

test('a token opens streams and nothing else, of the emitter that it is for', async () => {
  const [source, other] = [await hw.deploy(SOURCE), await hw.deploy(SOURCE)];
  const bound = await makeToken(hw.api, { emitter_id: source.id });
  expect(await statusOf(`/sources/${source.id}/sse`, bound)).toBe(200);
  expect(await statusOf(`/sources/${source.id}/logs`, bound)).toBe(200);
  expect(await statusOf(`/sources/${other.id}/sse`, bound)).toBe(401);
  const all = await makeToken(hw.api);
  expect(await statusOf(`/sources/${other.id}/sse`, all)).toBe(200);
  const { data: tunnel } = await hw.api('POST', '/tunnels', { emitter_id: source.id });
  for (const path of [`/webhooks/${tunnel.id}/tunnel`, `/sources/${source.id}`, '/users/me', '/events'])
    expect([path, await statusOf(path, all)]).toEqual([path, 401]);
  const asKey = await fetch(`${hw.url}/v1/users/me`, { headers: { authorization: `Bearer ${all}` } });
  expect(asKey.status).toBe(401);
  for (const wrong of ['x', '', `${all.slice(0, -2)}xx`, 'x'.repeat(5_000)])
    expect(await statusOf(`/sources/${source.id}/sse`, wrong)).toBe(401);
});

test('a token reads what its key reads, and ends with it', async () => {
  const source = await hw.deploy(SOURCE);
  const other = await hw.newAccount();
  expect(await statusOf(`/sources/${source.id}/sse`, await makeToken(other.api))).toBe(404);
  const make = async (key: object) => (await hw.api('POST', '/api_keys', { name: 'k', ...key })).data;
  const publish = await make({ scopes: ['publish'] });
  expect((await hw.as(publish.api_key)('POST', '/streams/token')).status).toBe(403);
  const one = await make({ resource: source.id });
  const another = await hw.deploy(SOURCE);
  const token = await makeToken(hw.as(one.api_key));
  expect(await statusOf(`/sources/${source.id}/sse`, token)).toBe(200);
  expect(await statusOf(`/sources/${another.id}/sse`, token)).toBe(403);
  expect((await hw.api('DELETE', `/api_keys/${one.id}`)).status).toBe(204);
  await eventually(async () => (await statusOf(`/sources/${source.id}/sse`, token)) === 401);
});

test('a token ends, and is no session', async () => {
  const sealer = createSealer(fixedKeys([{ id: 'test', key: randomBytes(32) }]));
  const sessions = createSessions({ sealer, maxAgeMs: 60_000 });
  const now = Date.now();
  const token = sessions.makeStreamToken('hw_x', { expiresAt: new Date(now + 60_000) });
  expect(sessions.streamKeyOf(token, 'dc_1')).toBe('hw_x');
  const ended = sessions.makeStreamToken('hw_x', { expiresAt: new Date(now - 1) });
  expect(sessions.streamKeyOf(ended, 'dc_1')).toBeUndefined();
  expect(sessions.keyOf(token)).toBeUndefined();
  expect(sessions.streamKeyOf(sessions.begin('hw_x').token, 'dc_1')).toBeUndefined();
  const { data } = await hw.api('POST', '/streams/token', { minutes: 60 });
  expect(data.expires_at).toBeGreaterThan(now / 1000 + 3_500);
  expect((await hw.api('POST', '/streams/token', { minutes: 61 })).status).toBe(400);
});
