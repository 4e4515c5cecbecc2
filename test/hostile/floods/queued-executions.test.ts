// fairness: Five hundred events each for a paused workflow, one that runs one at a time, and one whose steps burn time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

const EVENTS = 500;

it('wait in their queues, are all kept, and the neighbour is served', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxRequestsPerSecond: 0 });
  const paused = await makeWorkflow(attacker, {
    steps: ['return 1;'],
    settings: { throttle: { limit: 0, interval_seconds: 1 } },
  });
  const one = await makeWorkflow(attacker, { steps: ['return 1;'], settings: { concurrency: 1 } });
  const slow = await makeWorkflow(attacker, {
    steps: ['const until = Date.now() + 20; while (Date.now() < until);'],
    settings: { concurrency: 1_000 },
  });
  const flows = [paused, one, slow];
  const flood = async (endpoint: string) => {
    for (let sent = 0; sent < EVENTS; sent += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => fetch(endpoint, { method: 'POST', body: '1' })),
      );
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    }
  };
  const before = await sql`select from executions where account_id = ${attacker.id}`;
  await world.unharmed(async () => {
    await Promise.all(flows.map(({ endpoint }) => flood(endpoint)));
  });
  const counts = await sql<{ queued: number; ended: number }[]>`
    select (select count(*) from invocations where source_id = any(${flows.map(({ id }) => id)}))::int as queued,
      (select count(*) from executions where account_id = ${attacker.id})::int as ended`;
  const { queued = 0, ended = 0 } = counts[0] ?? {};
  expect(queued + ended - before.length).toBeGreaterThanOrEqual(flows.length * EVENTS);
  const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from invocations where source_id = ${paused.id} and leased_by is null`;
  expect(waiting?.count).toBeGreaterThanOrEqual(EVENTS);
  for (const { id } of flows) expect((await attacker.api('DELETE', `/workflows/${id}`)).status).toBeLessThan(300);
});
