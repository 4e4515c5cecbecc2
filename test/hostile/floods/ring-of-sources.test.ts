// limits: Two sources that hear each other, emit twice for each event, and listen to everything as well.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const TWICE = `export default { name: 'Twice', version: '1', run() { this.$emit(1); this.$emit(2); } };`;

it('the ring ends at the limit of the chain, which its last runs name', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxEventHops: 5 });
  const [a, b] = [await attacker.deploy(TWICE), await attacker.deploy(TWICE)];
  for (const [emitter, listener] of [
    [a.id, b.id],
    [b.id, a.id],
    ['dc_*', a.id],
    ['dc_*', b.id],
  ]) {
    const made = await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener });
    expect(made.status).toBe(200);
  }
  let rounds = 0;
  const { error } = await world.unharmed(async () => {
    rounds++;
    const first = await world.run(a.id);
    await world.untilIdle();
    return first;
  });
  expect(error).toBeUndefined();
  const events = await sql`select from events where emitter_id in (${a.id}, ${b.id}) and channel = ''`;
  // 2 + 4 + … + 64: each event is heard once, by the other one, five times in a row.
  expect(events).toHaveLength(126 * rounds);
  const errors = await sql<{ data: string }[]>`
    select data from events where emitter_id in (${a.id}, ${b.id}) and channel = '$errors'`;
  expect(errors).toHaveLength(32 * rounds);
  for (const { data } of errors) {
    expect(JSON.parse(data).error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxEventHops', value: 5, used: 6 },
    });
  }
});
