// tenancy: Deleting the neighbour's events, with every range of ids, and through a source of the attacker's own.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('the events stay, whatever the range', async () => {
  const { attacker, neighbour } = world;
  const theirs = await neighbour.deploy(OWNED);
  const own = await attacker.deploy(OWNED);
  await fetch(theirs.endpoint, { method: 'POST', body: 'kept' });
  const events = async () =>
    (await neighbour.api('GET', `/sources/${theirs.id}/event_summaries`)).body.data as { id: string }[];
  const [event] = await eventually(async () => (await events()).length === 1 && (await events()));
  await world.unharmed(async () => {
    for (const range of ['', `?start_id=${event?.id}&end_id=${event?.id}`, '?start_id=0-0&end_id=999999999999999-0']) {
      const direct = await attacker.api('DELETE', `/sources/${theirs.id}/events${range}`);
      const beside = await attacker.api('DELETE', `/sources/${own.id}/events${range}`);
      expect([range, direct.status, beside.status]).toEqual([range, 404, 202]);
    }
  });
  expect(await events()).toEqual([event].map((one) => expect.objectContaining({ id: one?.id })));
});
