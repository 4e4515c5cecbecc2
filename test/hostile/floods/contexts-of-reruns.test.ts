// limits: Executions that wait for a year, each with a megabyte that it has given its next run.
import { expect, it } from 'vitest';
import { untilExecutions } from '../../support/executions.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

const MAX = 4 * 1024 * 1024;
const EXECUTIONS = 6;

it('count with it, and fail with the limit where there is no room for it', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxWaitingBytes: MAX });
  const flow = await makeWorkflow(attacker, {
    steps: [`return $.flow.rerun(365 * 86_400_000, 'x'.repeat(1_000_000));`],
  });
  let started = 0;
  await world.unharmed(async () => {
    for (let n = 0; n < EXECUTIONS; n++) {
      expect((await fetch(flow.endpoint, { method: 'POST', body: '1' })).status).toBe(200);
      await untilExecutions(sql as never, flow.id, ++started, ['waiting', 'failed']);
    }
  });
  const executions = await untilExecutions(sql as never, flow.id, started, ['waiting', 'failed']);
  const failed = executions.filter(({ status }) => status === 'failed');
  expect(failed.length).toBeLessThan(started);
  expect(failed.length).toBeGreaterThanOrEqual(EXECUTIONS / 2);
  for (const { error } of failed) {
    expect(error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxWaitingBytes', value: MAX } });
  }
  const [given] = await sql<{ bytes: number }[]>`
    select sum(octet_length(context))::int4 as bytes from execution_waits where account_id = ${attacker.id}`;
  expect(given?.bytes).toBeGreaterThan(1_000_000);
  expect(given?.bytes).toBeLessThanOrEqual(MAX);
  expect((await attacker.api('DELETE', `/workflows/${flow.id}`)).status).toBeLessThan(300);
});
