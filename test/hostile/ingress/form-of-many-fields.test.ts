// ingress: A hundred thousand fields in a form, in the query string of an endpoint, and in that of the API.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
const FIELDS = Array.from({ length: 90_000 }, (_, n) => n.toString(36)).join('&');

it('a form is bounded in fields, a query in bytes', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${attacker.key}` };
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const query = FIELDS.slice(0, 30_000);
      expect((await fetch(endpoint, { method: 'POST', headers, body: FIELDS })).status).toBe(200);
      expect((await fetch(`${endpoint}?${query}`, { method: 'POST', headers })).status).toBe(200);
      expect((await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body: FIELDS })).status).toBe(400);
      expect((await fetch(`${server.url}/v1/sources?${query}`, { headers })).status).toBe(200);
      await world.untilIdle();
    }),
  );
});
