// limits: Replays without end of an execution of a workflow that takes none of them, each a copy of its event.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();
const MAX = 20;

it('are refused by the name of the limit beyond what may wait', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxQueuedInvocations: MAX });
  const flow = await makeWorkflow(attacker, { steps: ['return 1;'] });
  const started = await attacker.api('POST', `/workflows/${flow.id}/run`, {});
  const id = started.body.data.execution_id as string;
  await eventually(async () => (await attacker.api('GET', `/executions/${id}`)).body.data.status === 'succeeded');
  const paused = { settings: { throttle: { limit: 0, interval_seconds: 1 } } };
  expect((await attacker.api('PUT', `/workflows/${flow.id}`, paused)).status).toBe(200);
  const replay = async () => attacker.api('POST', `/executions/${id}/replay`, {});
  const refusal = await world.unharmed(async () => {
    for (let tries = 0; tries < 4 * MAX; tries++) {
      const { status, text } = await replay();
      if (status !== 200) return [status, text];
    }
    return [];
  });
  expect(refusal).toEqual([429, expect.stringContaining('maxQueuedInvocations')]);
  const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from invocations where source_id = ${flow.id}`;
  expect(waiting?.count).toBeLessThanOrEqual(MAX);
});
