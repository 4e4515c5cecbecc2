// tenancy: The neighbour's source as the listener of a subscription and of an auto subscription of the attacker.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { comparable, OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('cannot be made to run, nor told from one that nobody has', async () => {
  const { attacker, neighbour, sql } = world;
  const theirs = await neighbour.deploy(OWNED);
  const own = await attacker.deploy(OWNED);
  const unknown = `${theirs.id.slice(0, -6)}zzzzzz`;
  await world.unharmed(async () => {
    for (const emitter of [own.id, 'dc_*', unknown]) {
      const ask = async (id: string) =>
        comparable(await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: id }), id);
      const foreign = await ask(theirs.id);
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(await ask(`${theirs.id.slice(0, -6)}yyyyyy`));
    }
    for (const method of ['POST', 'DELETE']) {
      const ask = async (id: string) =>
        comparable(await attacker.api(method, '/auto_subscriptions', { listener_id: id }), id);
      const foreign = await ask(theirs.id);
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(await ask(unknown));
    }
    await fetch(own.endpoint, { method: 'POST', body: '1' });
    await world.untilIdle();
  });
  expect(await sql`select from events where emitter_id = ${theirs.id}`).toHaveLength(0);
  expect(await sql`select from subscriptions where account_id = ${attacker.id}`).toHaveLength(0);
});
