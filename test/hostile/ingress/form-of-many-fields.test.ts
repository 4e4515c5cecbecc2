// ingress: A hundred thousand fields in a form, in the query string of an endpoint, and in that of the API.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run({ body, query }) {
  this.$emit({ body: typeof body, fields: Object.keys(body ?? {}).length, query: Object.keys(query).length });
} };`;
const fieldsOf = (count: number) => Array.from({ length: count }, (_, n) => n.toString(36)).join('&');
const FIELDS = fieldsOf(90_000);

it('a form is bounded in fields, a query in bytes', async () => {
  const { attacker, server } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${attacker.key}` };
  const query = fieldsOf(7_000);
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const body of [FIELDS, fieldsOf(LIMITS.maxFormFields + 1), fieldsOf(LIMITS.maxFormFields)]) {
        expect((await fetch(endpoint, { method: 'POST', headers, body })).status).toBe(200);
      }
      expect((await fetch(`${endpoint}?${query}`, { method: 'POST', headers })).status).toBe(200);
      const api = await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body: FIELDS });
      expect([api.status, await api.text()]).toEqual([400, expect.stringContaining('body has more than 2000 fields')]);
      expect((await fetch(`${server.url}/v1/sources?${query}`, { headers })).status).toBe(200);
      expect((await fetch(`${server.url}/v1/sources?${FIELDS}`, { headers })).status).toBe(431);
      await world.untilIdle();
    }),
  );
  const { body } = await attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
  const arrived = body.data.map(({ event }: { event: object }) => event).toReversed();
  // Events of the last round. A form with too many fields arrives as text.
  expect(arrived.slice(-4)).toMatchObject([
    { body: 'string' },
    { body: 'string' },
    { body: 'object', fields: LIMITS.maxFormFields },
    { query: 7_000 },
  ]);
});
