// limits: Thirty tests of a workflow at once, whose step never ends.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

it('four run, until the limit of processor time; the others are refused, and nothing is left of them', async () => {
  const { attacker, sql } = world;
  await world.limit({ runCpuMs: 500 });
  const { id } = await makeWorkflow(attacker, { steps: ['for (;;);'], settings: { timeout_seconds: 60 } });
  const answers = await world.unharmed(() =>
    Promise.all(Array.from({ length: 30 }, () => attacker.api('POST', `/workflows/${id}/test`))),
  );
  const ended = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect(ended.length + refused.length).toBe(30);
  expect(ended.length).toBeGreaterThanOrEqual(4);
  for (const { body } of ended) {
    expect(body.data.steps[0].error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
  }
  for (const { body } of refused) expect(body.error).toContain('4 tests of workflows');
  expect(await sql`select from executions where workflow_id = ${id}`).toHaveLength(0);
  expect(await sql`select from events where emitter_id = ${id}`).toHaveLength(0);
});
