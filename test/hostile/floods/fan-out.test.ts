// fairness: A thousand events at once for forty webhooks, and one of half a megabyte for eight sources.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const EVENTS = 1_000;
const WEBHOOKS = 40;
const LISTENERS = 8;
const LARGE_BYTES = 500 * 1024;

const EMIT = `export default { name: 'Emit', version: '1', run({ large }) {
  if (large) this.$emit('x'.repeat(${LARGE_BYTES}), { name: 'large' });
  else for (let i = 0; i < ${EVENTS}; i++) this.$emit(i);
} };`;
const LISTEN = `export default { name: 'Listen', version: '1', run() {} };`;

it('each is stored and led to all of them, and the neighbour is served meanwhile', async () => {
  const { attacker, sql } = world;
  const emitter = await attacker.deploy(EMIT);
  for (let i = 0; i < WEBHOOKS; i++) {
    const webhook = await attacker.api('POST', '/webhooks', { url: `http://127.0.0.1:99/${i}` });
    await attacker.api('POST', '/subscriptions', { emitter_id: emitter.id, listener_id: webhook.body.data.id });
  }
  const listeners = await Promise.all(Array.from({ length: LISTENERS }, () => attacker.deploy(LISTEN)));
  for (const { id } of listeners) {
    const subscription = { emitter_id: emitter.id, listener_id: id, event_name: 'large' };
    expect((await attacker.api('POST', '/subscriptions', subscription)).status).toBe(200);
  }
  // Those of all rounds are tried again meanwhile.
  await world.limit({ maxQueuedDeliveries: 10_000_000 });
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    await attacker.api('POST', `/sources/${emitter.id}/run`, { event: { large: true } });
    await attacker.api('POST', `/sources/${emitter.id}/run`, { event: {} });
    await world.untilIdle(30_000);
  });
  const [row] = await sql`select count(*)::int as count from deliveries where account_id = ${attacker.id}`;
  expect(row?.['count']).toBe(EVENTS * WEBHOOKS * rounds);
  const ran = await sql<{ count: number }[]>`
    select count(*)::int as count from runs where source_id = any(${listeners.map(({ id }) => id)}::text[])`;
  expect(ran).toEqual([{ count: LISTENERS * rounds }]);
});
