// fairness: Workflows that send hundreds of requests at once to a server that never answers.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sendEach, startSends } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

const world = hostile();

it('fill the share of their own account, and the neighbour’s are sent at once', async () => {
  const [silent, receiver] = [await startReceiver(), await startReceiver()];
  silent.answer = { delayMs: 8_000 };
  try {
    const flood = Array.from({ length: 100 }, (): ['http', object] => ['http', { url: silent.url }]);
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      for (let workflows = 0; workflows < 4; workflows++) await startSends(world.attacker, flood);
      await eventually(() => silent.requests.length >= 16, { what: 'the flood' });
      const sends = await sendEach({ attacker: world.neighbour, sql: world.sql }, [['http', { url: receiver.url }]]);
      expect(sends).toMatchObject([{ status: 'delivered', attempts: [{ status_code: 200 }] }]);
    });
    // Those of one host narrow with each timeout.
    expect(silent.requests.length).toBeLessThanOrEqual(32 * rounds);
    const stored = () => world.sql`select id from sends where account_id = ${world.attacker.id}`;
    await eventually(async () => (await stored()).length === 400 * rounds, {
      what: 'every send, once its execution has ended',
    });
  } finally {
    await Promise.all([silent.stop(), receiver.stop()]);
  }
});
