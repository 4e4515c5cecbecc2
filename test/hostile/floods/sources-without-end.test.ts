// database: Sources, workflows, webhooks, subscriptions and keys without end, many at the same time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = "export default { name: 'One of many', version: '1', run() {} };";
const ROOM = 5;

it('there are as many as the account may have, the rest is refused by name, and the neighbour makes his', async () => {
  const { attacker, neighbour, sql } = world;
  const { id: component_id } = (await attacker.api('POST', '/components', { component_code: CODE })).body.data;
  const { id: listener_id } = (await attacker.api('POST', '/webhooks', { url: 'https://example.com/' })).body.data;
  await world.limit({
    maxSources: ROOM,
    maxWorkflows: ROOM,
    maxWebhooks: ROOM,
    maxSubscriptions: ROOM,
    maxApiKeys: ROOM,
  });
  const floods = [
    ['maxSources', '/sources', () => ({ component_id })],
    ['maxWorkflows', '/workflows', () => ({ name: 'One of many' })],
    ['maxWebhooks', '/webhooks', () => ({ url: 'https://example.com/' })],
    ['maxSubscriptions', '/subscriptions', (n: number) => ({ emitter_id: 'dc_*', listener_id, event_name: `e${n}` })],
    ['maxApiKeys', '/api_keys', (n: number) => ({ name: `Key ${n}` })],
  ] as const;
  await world.unharmed(async () => {
    for (const [name, path, body] of floods) {
      const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => attacker.api('POST', path, body(n))));
      for (const answer of answers.filter(({ status }) => status !== 200))
        expect({ status: answer.status, limit: answer.body.limit }).toEqual({
          status: 409,
          limit: { name, value: ROOM, used: ROOM + 1 },
        });
    }
    expect((await neighbour.api('POST', '/webhooks', { url: 'https://example.com/' })).status).toBe(200);
  });
  const [counts] = await sql`
    select (select count(*)::int from emitters where account_id = ${attacker.id}) as emitters,
      (select count(*)::int from webhooks where account_id = ${attacker.id}) as webhooks,
      (select count(*)::int from subscriptions where account_id = ${attacker.id}) as subscriptions,
      (select count(*)::int from api_keys where account_id = ${attacker.id}) as keys`;
  expect(counts).toEqual({ emitters: 2 * ROOM, webhooks: ROOM, subscriptions: ROOM, keys: ROOM });
});
