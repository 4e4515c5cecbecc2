import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

let hw: Headwater;
let user: CliUser;
/** Knows one key, and has its bad moments. */
let service: Server;

beforeAll(async () => {
  hw = await startHeadwater();
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey }, { ownProcess: true });
  service = createServer((request, response) => {
    const key = request.headers['x-key'];
    response.statusCode = key === 'good-good-good' ? 200 : key === 'busy-busy-busy' ? 503 : 401;
    response.end('{"error":"who are you?"}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => service.once('listening', resolve));
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/me`;
  const fields = [{ name: 'api_key', label: 'API key' }];
  const auth = { type: 'header', name: 'x-key', value: '{{api_key}}' };
  const keyed = { auth_type: 'keys', fields };
  await hw.admin('POST', '/apps', { ...keyed, name_slug: 'tested', name: 'Tested', test: { url, auth } });
  await hw.admin('POST', '/apps', { ...keyed, name_slug: 'untested', name: 'Untested' });
});
afterAll(async () => {
  await user?.remove();
  await hw?.stop();
  service?.close();
});

const connect = (stdin: string, ...args: string[]) => user.hw(['connect', ...args], { stdin });
const key = (value: string) => JSON.stringify({ api_key: value });
const accounts = async () => (await hw.api('GET', '/connected_accounts')).data;

test('keys that the app accepts are kept under the name', async () => {
  const { code, stdout } = await connect(key('good-good-good'), 'tested', '--name', 'Production');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Connected Tested as Production \(apn_\w+\)/)]);
  expect(await accounts()).toMatchObject([{ name: 'Production', dead: false, healthy: true }]);
});

test('keys that it refuses are told and not kept', async () => {
  const before = await accounts();
  const { code, stdout, stderr } = await connect(key('bad-bad-bad'), 'tested', '--name', 'Other');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/Tested does not accept these keys: .*401/);
  expect(stderr).toContain('Nothing was stored');
  expect(`${stdout}${stderr}`).not.toContain('bad-bad-bad');
  expect(await accounts()).toEqual(before);
});

test.each([
  ['an answer that says nothing about them', 'tested', 'busy-busy-busy', /503/],
  ['an app without a request to test them', 'untested', 'any-any-any', /no request to test its keys/],
])('with %s they are kept, and it is said that they were not tested', async (_, app, given, why) => {
  const { code, stderr } = await connect(key(given), app, '--name', app);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/stored and were not tested/)]);
  expect(stderr).toMatch(why);
  expect(await accounts()).toEqual(expect.arrayContaining([expect.objectContaining({ name: app, dead: false })]));
});

test('a malformed object of fields is refused with an example, and an unknown app too', async () => {
  const wrong = await connect('k3y', 'tested');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('{"api_key":"…"}')]);
  const missing = await connect('{}', 'tested');
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('api_key')]);
  const unknown = await connect('{}', 'no-such-app');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('no-such-app');
});
