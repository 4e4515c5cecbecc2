// fairness: Thousands of executions that wait for the same moment, at which each is a job of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const EXECUTIONS = 6_000;
const AT_ONCE = 60;
const UNTIL_MS = 25_000;
const WATCHED_MS = 10_000;
/** With all jobs in the order of their time it was as long as it took to wake them all. */
const SOON_MS = 2_500;

it('come after the ticks of the neighbour, who has one timer', async () => {
  const { attacker } = world;
  await world.limit({ maxRequestsPerSecond: 0 });
  const atMs = Date.now() + UNTIL_MS;
  const step = `$.flow.delay(Math.max(1_000, ${atMs} - Date.now()));`;
  const flow = await makeWorkflow(attacker, { steps: [step] });
  for (let sent = 0; sent < EXECUTIONS; sent += AT_ONCE) {
    const requests = Array.from({ length: AT_ONCE }, () => fetch(flow.endpoint, { method: 'POST', body: '1' }));
    for (const answer of await Promise.all(requests)) await answer.arrayBuffer();
  }
  const pauseMs = await world.unharmed(() =>
    longestPauseMs(world, () => sleep(Math.max(0, atMs - Date.now()) + WATCHED_MS)),
  );
  const waiting = () => world.sql`select from execution_waits where workflow_id = ${flow.id} limit 1`;
  await eventually(async () => (await waiting()).length === 0, { timeoutMs: 30_000, what: 'all to be woken' });
  expect((await attacker.api('DELETE', `/workflows/${flow.id}`)).status).toBeLessThan(300);
  expect(pauseMs).toBeLessThan(SOON_MS);
});
