import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({ countsEveryMs: 250 });
  await hw.limit({ maxWaitingBytes: MAX });
});
afterAll(() => hw.stop());

const MAX = 65_536;
/** It is in the event twice, which is in the database twice: within the limit once. */
const BODY = 'x'.repeat(10_000);

/** Answers its endpoint and id. */
async function workflow(run: string): Promise<{ id: string; endpoint: string }> {
  const code = `export default { name: 'Waits', version: '1', type: 'action', run({ $ }) { ${run} } };`;
  const { data } = await hw.api('POST', '/workflows', {
    name: 'Waits',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'waits', component_code: code }],
  });
  return { id: data.id, endpoint: data.triggers[0].endpoint_url };
}

const start = ({ endpoint }: { endpoint: string }) => fetch(endpoint, { method: 'POST', body: BODY });

/** The newest of `count` executions, once all have ended or wait. */
async function settled({ id }: { id: string }, count: number, underWay = ['running', 'queued']) {
  return eventually(
    async () => {
      const { data } = await hw.api('GET', `/workflows/${id}/executions`);
      const done = (data as { id: string; status: string; error: unknown }[]).filter(
        ({ status }) => !underWay.includes(status),
      );
      return done.length === count && done[0];
    },
    { timeoutMs: 15_000 },
  );
}

test('an execution that has no room to wait has failed with the limit, and the next one waits once there is room', async () => {
  const suspended = await workflow('$.flow.suspend();');
  await start(suspended);
  const first = await settled(suspended, 1);
  expect(first).toMatchObject({ status: 'waiting' });
  await start(suspended);
  const second = await settled(suspended, 2);
  expect(second).toMatchObject({
    status: 'failed',
    error: { code: 'RESOURCE_LIMIT', limit: { name: 'maxWaitingBytes', value: MAX }, namespace: 'waits' },
  });
  const { limit } = second.error as { limit: { used: number } };
  expect(limit.used).toBeGreaterThan(8 * BODY.length);
  expect(await hw.sql`select from execution_waits`).toHaveLength(1);
  // Others of the account that do not wait, and what waits already, are as they were.
  expect(await hw.api('POST', `/executions/${first.id}/cancel`)).toMatchObject({ status: 204 });
  let count = 2;
  await eventually(
    async () => {
      await start(suspended);
      return (await settled(suspended, ++count)).status === 'waiting';
    },
    { timeoutMs: 20_000, everyMs: 1_000 },
  );
  await hw.api('DELETE', `/workflows/${suspended.id}`);
});

test('one that waits again and again counts once', async () => {
  await hw.limit({ maxWaitingBytes: null });
  const [row] = await hw.sql<{ count: number }[]>`select count(*)::int4 as count from execution_waits`;
  expect(row?.count).toBe(0);
  await hw.limit({ maxWaitingBytes: 2 * MAX });
  const rerun = await workflow('$.flow.rerun(1, null, 20); return $.context.run.runs;');
  await start(rerun);
  const ended = await settled(rerun, 1, ['running', 'queued', 'waiting']);
  expect(ended).toMatchObject({ status: 'succeeded' });
  const [step] = await hw.sql<{ runs: number }[]>`select runs from execution_steps where execution_id = ${ended.id}`;
  expect(step?.runs).toBe(21);
});
