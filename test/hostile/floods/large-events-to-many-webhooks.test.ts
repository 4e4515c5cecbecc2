// fairness: Events of nearly a megabyte each, to ten webhooks at once.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { addWebhook } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

const world = hostile();
const EMIT = `export default { name: 'Large', version: '1', run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
const WEBHOOKS = 10;

it('go out at a pace, and all arrive', async () => {
  const { attacker, sql } = world;
  const receiver = await startReceiver();
  try {
    const source = await attacker.deploy(EMIT);
    for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${receiver.url}/${i}`);
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      await attacker.api('POST', `/sources/${source.id}/run`, {});
      await eventually(
        async () => {
          const rows = await sql`
            select from deliveries where account_id = ${attacker.id} and status = 'delivered'`;
          return rows.length === 6 * WEBHOOKS * rounds;
        },
        { timeoutMs: 60_000, everyMs: 100, what: 'all of them to arrive' },
      );
    });
    expect(receiver.requests).toHaveLength(6 * WEBHOOKS * rounds);
  } finally {
    await receiver.stop();
  }
});
