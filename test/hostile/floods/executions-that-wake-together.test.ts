// fairness: Thousands of executions that wait for the same moment, at which each is a job of its own.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const EXECUTIONS = longRun(720, 2_100);
const AT_ONCE = 60;
/** With all jobs in the order of their time it was as long as it took to wake them all. */
const SOON_MS = 2_500;

it('come after the ticks of the neighbour, who has one timer', async () => {
  const { attacker } = world;
  await world.limit({ maxRequestsPerSecond: 0 });
  const flow = await makeWorkflow(attacker, { steps: ['$.flow.delay(3_600_000);'] });
  for (let sent = 0; sent < EXECUTIONS; sent += AT_ONCE) {
    const requests = Array.from({ length: AT_ONCE }, () => fetch(flow.endpoint, { method: 'POST', body: '1' }));
    for (const answer of await Promise.all(requests)) await answer.arrayBuffer();
  }
  const { sql } = world;
  const waiting = () => sql`select from execution_waits where workflow_id = ${flow.id}`;
  await eventually(async () => (await waiting()).length === EXECUTIONS, { timeoutMs: 60_000, what: 'all to wait' });
  let tookMs = 0;
  const wake = async () => {
    const beganMs = performance.now();
    await sql.begin(async (tx) => {
      await tx`update execution_waits set wake_at = now() where workflow_id = ${flow.id}`;
      await tx`
        update graphile_worker._private_jobs set run_at = now()
        where key in (select 'wake:' || execution_id from execution_waits where workflow_id = ${flow.id})`;
    });
    await eventually(async () => (await waiting()).length === 0, { timeoutMs: 60_000, what: 'all to be woken' });
    tookMs = performance.now() - beganMs;
  };
  const pauseMs = await world.unharmed(() => longestPauseMs(world, wake));
  expect((await attacker.api('DELETE', `/workflows/${flow.id}`)).status).toBeLessThan(300);
  expect(pauseMs).toBeLessThan(Math.max(SOON_MS, tookMs / 2));
});
