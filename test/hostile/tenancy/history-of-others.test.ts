// tenancy: Reading the neighbour's history, errors and log lines, by its ids as paths, ranges and cursors.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const LOUD = `export default { name: 'Loud', version: '1', props: { http: '$.interface.http' },
  run({ body }) { console.log('whispered'); this.$emit({ told: body }); throw new Error('shouted'); } };`;

it('nothing of it is shown', async () => {
  const { attacker, neighbour } = world;
  const [theirs, own] = [await neighbour.deploy(LOUD), await attacker.deploy(LOUD)];
  await fetch(theirs.endpoint, { method: 'POST', body: 'private' });
  const stored = async () => (await neighbour.api('GET', `/sources/${theirs.id}/events`)).body.data as { id: string }[];
  const [event] = await eventually(async () => (await stored()).length === 1 && (await stored()));
  const id = event?.id ?? '';
  await world.unharmed(async () => {
    for (const place of ['events', 'event_summaries', '$errors/event_summaries', '$logs/event_summaries', 'runs']) {
      const direct = await attacker.api('GET', `/sources/${theirs.id}/${place}`);
      expect([place, direct.status]).toEqual([place, 404]);
      const beside = await attacker.api('GET', `/sources/${own.id}/${place}`);
      expect([place, beside.status, beside.body.data]).toEqual([place, 200, []]);
    }
    for (const range of [
      `start_id=${id}&end_id=${id}`,
      `before=0-0`,
      `after=999999999999999-0`,
      `event_name=$errors`,
    ]) {
      const answer = await attacker.api('GET', `/sources/${own.id}/events?${range}`);
      expect([range, answer.status, answer.body.data]).toEqual([range, 200, []]);
    }
  });
});
