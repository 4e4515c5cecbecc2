// limits: Requests and events for a workflow that takes none of them, until nothing more of the account may wait.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();
const MAX = 200;

it('are refused by the name of the limit, and what was accepted stays', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxQueuedInvocations: MAX });
  const paused = await makeWorkflow(attacker, {
    steps: ['return 1;'],
    settings: { throttle: { limit: 0, interval_seconds: 1 } },
  });
  const emitter = await attacker.deploy(
    `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < 1_000; i++) this.$emit(i); } };`,
  );
  await attacker.api('POST', '/subscriptions', { emitter_id: emitter.id, listener_id: paused.id });
  let accepted = 0;
  const refusals = new Set<string>();
  const send = async (count: number) => {
    const answers = await Promise.all(
      Array.from({ length: count }, () => fetch(paused.endpoint, { method: 'POST', body: '1' })),
    );
    for (const answer of answers) {
      const text = await answer.text();
      if (answer.status === 200) accepted++;
      else refusals.add(`${answer.status} ${JSON.parse(text).limit?.name}`);
    }
  };
  await world.unharmed(async () => {
    for (let sent = 0; sent < 2 * MAX; sent += 40) await send(40);
  });
  expect(accepted).toBeLessThanOrEqual(MAX);
  // An execution that is accepted during a count counts twice, until the next count.
  const full = async () => {
    await send(1);
    return accepted >= MAX;
  };
  await eventually(full, { timeoutMs: 20_000, everyMs: 50 });
  await send(40);
  const execution = await attacker.api('POST', `/workflows/${paused.id}/run`, {});
  expect([execution.status, execution.text]).toEqual([429, expect.stringContaining('maxQueuedInvocations')]);
  // The run itself starts, but its event would have to wait.
  const { error } = await world.run(emitter.id);
  expect(error?.limit).toMatchObject({ name: 'maxQueuedInvocations', value: MAX });
  const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from invocations where source_id = ${paused.id}`;
  expect([waiting?.count, accepted, refusals]).toEqual([MAX, MAX, new Set(['429 maxQueuedInvocations'])]);
});
