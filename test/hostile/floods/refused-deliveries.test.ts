// fairness: Thousands of deliveries at once to receivers that refuse every connection.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { addWebhook } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

const world = hostile();
const EVENTS = 300;
const WEBHOOKS = 10;
const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

it('are attempted each, a few at a time', async () => {
  const { attacker, sql } = world;
  const receiver = await startReceiver();
  await receiver.stop();
  const source = await attacker.deploy(EMIT);
  for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${receiver.url}/${i}`);
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    await attacker.api('POST', `/sources/${source.id}/run`, {});
    await eventually(
      async () => {
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int from deliveries where account_id = ${attacker.id} and attempts <> '[]'`;
        return row?.count === EVENTS * WEBHOOKS * rounds;
      },
      { timeoutMs: 20_000, everyMs: 250, what: 'the first attempt of each' },
    );
  });
  const attempts = await sql<{ error: string }[]>`
    select distinct attempts -> 0 ->> 'error' as error from deliveries where account_id = ${attacker.id}`;
  expect(attempts).toEqual([{ error: expect.stringMatching(/refused/) }]);
});
