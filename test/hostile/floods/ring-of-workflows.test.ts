// limits: Two workflows that hear each other, emit twice for each event, and listen to all workflows as well.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

const TWICE = '$.send.emit({ n: 1 }); $.send.emit({ n: 2 });';

it('the ring ends at the limit of the chain, which its last executions name', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxEventHops: 4 });
  const [a, b] = [
    await makeWorkflow(attacker, { steps: [TWICE] }),
    await makeWorkflow(attacker, { steps: [TWICE], settings: { concurrency: 2 } }),
  ];
  for (const [emitter, listener] of [
    [a.id, b.id],
    [b.id, a.id],
    ['p_*', a.id],
    ['p_*', b.id],
  ]) {
    const made = await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener });
    expect(made.status).toBe(200);
  }
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    expect((await attacker.api('POST', `/workflows/${a.id}/run`)).status).toBe(200);
    await world.untilIdle();
  });
  const events = await sql`select from events where emitter_id in (${a.id}, ${b.id}) and channel = ''`;
  // 2 + 4 + … + 32: each event is heard once, by the other one, four times in a row.
  expect(events).toHaveLength(62 * rounds);
  const errors = await sql<{ data: string }[]>`
    select data from events where emitter_id in (${a.id}, ${b.id}) and channel = '$errors'`;
  expect(errors).toHaveLength(16 * rounds);
  for (const { data } of errors) {
    expect(JSON.parse(data).error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxEventHops', value: 4, used: 5 },
    });
  }
});
