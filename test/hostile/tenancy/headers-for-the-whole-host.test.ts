// tenancy: Answers whose headers have a browser keep, report or hand over something for all endpoints of the shared host.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const HEADERS = {
  'alt-svc': 'h2="evil.example:443"; ma=86400',
  nel: '{"report_to":"x","max_age":86400,"success_fraction":1}',
  'report-to': '{"group":"x","max_age":86400,"endpoints":[{"url":"https://evil.example"}]}',
  'Clear-Site-Data': '"*"',
  'strict-transport-security': 'max-age=86400; includeSubDomains',
  'www-authenticate': 'Basic realm="theirs"',
  'x-own': 'kept',
};
const COOKIES = [
  'plain=1',
  'path=1; Path=/; HttpOnly',
  'other=1;\tpAtH = /e/another; path=/',
  'domain=1; Domain=example.com; Secure',
  'bare=1; Path; Domain',
  'path=/; Max-Age=60',
];
const answering = (headers: object) => `export default { name: 'Page', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run() { await this.http.respond({ status: 401, headers: ${JSON.stringify(headers)}, body: '' }); } };`;

it('are left out, and cookies stay with the endpoint that sets them', async () => {
  const { attacker } = world;
  const { endpoint } = await attacker.deploy(answering({ ...HEADERS, 'Set-Cookie': COOKIES }));
  const { headers } = await world.unharmed(() => fetch(endpoint));
  const kept = Object.keys(HEADERS).filter((name) => headers.has(name));
  expect(kept).toEqual(['x-own']);
  const { pathname } = new URL(endpoint);
  expect(headers.getSetCookie()).toEqual([
    `plain=1; Path=${pathname}`,
    `path=1; HttpOnly; Path=${pathname}`,
    `other=1; Path=${pathname}`,
    `domain=1; Secure; Path=${pathname}`,
    `bare=1; Path=${pathname}`,
    `path=/; Max-Age=60; Path=${pathname}`,
  ]);
  const one = await attacker.deploy(answering({ 'set-cookie': 'a=1' }));
  expect((await fetch(one.endpoint)).headers.getSetCookie()).toEqual([`a=1; Path=${new URL(one.endpoint).pathname}`]);
});
