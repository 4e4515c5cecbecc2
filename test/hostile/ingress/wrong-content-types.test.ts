// ingress: Bodies under content types that are wrong, malformed, enormous or name charsets that need tables.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
const TYPES = [
  '',
  ';',
  '/',
  'application',
  'application/json; charset=utf-7',
  'application/json; charset=utf-32',
  `application/json;${' '.repeat(20_000)}x`,
  'text/html; charset="',
  'application/x-www-form-urlencoded; charset=utf-16',
  'multipart/mixed; boundary=x',
  `multipart/form-data; ${'boundary=a;'.repeat(1_500)}`,
  'application/vnd.x+json',
  'image/png',
];

it('an endpoint takes the bytes as text, the API says what it takes', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  await world.unharmed(async () => {
    for (const type of TYPES) {
      const headers = { 'content-type': type, authorization: `Bearer ${attacker.key}` };
      const sent = await fetch(endpoint, { method: 'POST', headers, body: '{"a": 1' });
      const api = await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body: '{"a": 1' });
      expect([type.slice(0, 30), sent.status, api.status]).toEqual([type.slice(0, 30), 200, 400]);
    }
    await world.untilIdle();
  });
});
