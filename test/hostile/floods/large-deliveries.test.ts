// fairness: A webhook's backlog of events of nearly a megabyte each, made due at once, again and again.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { addWebhook } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

const world = hostile();
const EMIT = `export default { name: 'Large', version: '1', run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
const RUNS = 3;
const EVENTS = 6 * RUNS;

it('is taken up a megabyte at a time, and each is attempted', async () => {
  const { attacker, sql } = world;
  const receiver = await startReceiver();
  receiver.answer = { status: 404 };
  try {
    const source = await attacker.deploy(EMIT);
    const id = await addWebhook(attacker, source.id, receiver.url);
    await attacker.api('PUT', `/webhooks/${id}`, { retry_schedule_seconds: [] });
    const failed = async () =>
      (await sql`select from deliveries where webhook_id = ${id} and status = 'failed'`).length === EVENTS;
    for (let run = 0; run < RUNS; run++) await attacker.api('POST', `/sources/${source.id}/run`, {});
    await eventually(failed, { timeoutMs: 30_000, what: 'the first attempt of each' });
    let rounds = 1;
    await world.unharmed(async () => {
      rounds++;
      const again = await attacker.api('POST', `/webhooks/${id}/redeliver`, {});
      expect([again.status, again.body.data]).toEqual([200, { count: EVENTS }]);
      await eventually(failed, { timeoutMs: 30_000, everyMs: 100, what: 'the next attempt of each' });
    });
    expect(receiver.requests).toHaveLength(EVENTS * rounds);
  } finally {
    await receiver.stop();
  }
});
