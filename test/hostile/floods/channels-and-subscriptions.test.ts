// limits: Ten thousand events on as many channels, for two thousand subscriptions to others: a product in one piece, under the row's lock.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const EVENTS = 10_000;
const SUBSCRIPTIONS = 1_000;

const EMIT = `export default { name: 'Channels', version: '1', run() {
  const summary = 's'.repeat(300);
  for (let i = 0; i < ${EVENTS}; i++) this.$emit(i, { ts: 1, name: 'c'.repeat(100) + i, summary });
} };`;

it('are stored, and what an event says beside its data counts for the run', async () => {
  const { attacker, sql } = world;
  const { id } = await attacker.deploy(EMIT);
  const webhook = await attacker.api('POST', '/webhooks', { url: 'http://127.0.0.1:8080/' });
  const rows = Array.from({ length: SUBSCRIPTIONS }, (_, n) => ({
    id: `sub_x${id}${n}`,
    event_name: `${'c'.repeat(100)}x${n}`,
  }));
  await sql`insert into subscriptions ${sql(rows.map((row) => ({ ...row, account_id: attacker.id, emitter_id: id, listener_id: webhook.body.data.id })))}`;
  const ran = await world.unharmed(() => world.run(id));
  expect(ran.error).toBeUndefined();
  await world.limit({ maxRunOutputBytes: 2 * 1024 * 1024 });
  const refused = await world.run(id);
  expect(refused.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes' } });
});
