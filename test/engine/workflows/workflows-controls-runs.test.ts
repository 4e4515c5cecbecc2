import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { WorkflowSettings } from '../../../engine/src/contract/workflows.ts';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { putSettings } from '../../support/turn-rows.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await hw.stop();
});
beforeEach(() => {
  receiver.answer = {};
});

interface Flow {
  id: string;
  endpoint: string;
}

async function flow(code: string, settings: Partial<WorkflowSettings>, customResponse = false): Promise<Flow> {
  const { accountId } = hw;
  const steps = [{ namespace: 'only', code: action(code) }];
  const { id, endpointKey } = await insertWorkflow(hw.sql, { accountId, steps, settings, customResponse });
  await putSettings(hw.sql, id, settings);
  return { id, endpoint: `${hw.url}/e/${endpointKey}` };
}

const queued = async (id: string) => (await hw.sql`select from invocations where source_id = ${id}`).length;

it('with concurrency 1 executions run in the order of their events, one at a time', async () => {
  const { id, endpoint } = await flow(
    `const at = Date.now(); await fetch('${receiver.url}/one'); return { n: steps.trigger.event.body.n, at, to: Date.now() };`,
    { concurrency: 1 },
  );
  for (let n = 0; n < 20; n++) expect((await post(endpoint, { n })).status).toBe(200);
  const executions = await untilExecutions(hw.sql, id, 20);
  const times = executions
    .map(({ steps }) => steps[0]?.value as { n: number; at: number; to: number })
    .toSorted((a, b) => a.at - b.at || a.n - b.n);
  expect(times.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  for (const [i, { at }] of times.entries()) expect(at).toBeGreaterThanOrEqual(times[i - 1]?.to ?? 0);
});

it('with concurrency 3 three run at a time', async () => {
  receiver.answer = { delayMs: 30 };
  const { id, endpoint } = await flow(
    `const at = Date.now(); await fetch('${receiver.url}/three'); return { at, to: Date.now() };`,
    { concurrency: 3 },
  );
  await Promise.all(Array.from({ length: 15 }, () => post(endpoint, {})));
  const spans = (await untilExecutions(hw.sql, id, 15)).map(
    ({ steps }) => steps[0]?.value as { at: number; to: number },
  );
  const together = spans.map(({ at }) => spans.filter((other) => other.at <= at && at < other.to).length);
  expect(Math.max(...together)).toBe(3);
});

it('a throttle of 0 keeps events, and raising it starts them at once', async () => {
  const { id, endpoint } = await flow('return 1;', { throttle: { limit: 0, intervalSeconds: 60 } });
  await Promise.all(Array.from({ length: 5 }, () => post(endpoint, {})));
  expect(await queued(id)).toBe(5);
  await putSettings(hw.sql, id, { throttle: { limit: 100, intervalSeconds: 60 } });
  await untilExecutions(hw.sql, id, 5);
});

it('a throttle starts the next ones when its window is over', async () => {
  const { id, endpoint } = await flow('return Date.now();', { throttle: { limit: 2, intervalSeconds: 1 } });
  await Promise.all(Array.from({ length: 5 }, () => post(endpoint, {})));
  const starts = (await untilExecutions(hw.sql, id, 5))
    .map(({ steps }) => steps[0]?.value as number)
    .toSorted((a, b) => a - b);
  // Two windows later; the first may have begun late on a busy machine.
  expect((starts[4] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(1_000);
});

it('a request beyond the limit of the queue is refused, and told which limit', async () => {
  const { id, endpoint } = await flow('return 1;', { throttle: { limit: 0, intervalSeconds: 60 }, queueLimit: 3 });
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(endpoint, {})));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(5);
  expect(await queued(id)).toBe(3);
  const [one] = refused;
  expect(one?.status).toBe(429);
  expect(Number(one?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await one?.json()).toMatchObject({ error: expect.stringContaining('queue_limit') });
});

it('a run by hand beyond the limit of the queue is refused as well', async () => {
  const { data } = await hw.api('POST', '/workflows', {
    steps: [{ namespace: 'only', component_code: action('return 1;') }],
    settings: { throttle: { limit: 0, interval_seconds: 60 }, queue_limit: 2 },
  });
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await hw.api('POST', `/workflows/${data.id}/run`));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]?.text).toContain('queue_limit');
});

it('with concurrency 1 nothing overtakes an execution before its retry, and everything a delayed one', async () => {
  const code = `const { n } = steps.trigger.event.body;
    if (n === 0 && $.context.run.runs === 1) throw new Error('once');
    if (n === 1) $.flow.delay(700);
    return Date.now();`;
  const { id, endpoint } = await flow(code, { concurrency: 1, retries: 1 });
  for (let n = 0; n < 3; n++) await post(endpoint, { n });
  // The retry comes after about five seconds.
  await eventually(async () => (await queued(id)) === 0, { timeoutMs: 20_000 });
  const [again, delayed, last] = await untilExecutions(hw.sql, id, 3);
  const endOf = async (execution: { id: string } | undefined) => {
    const [row] = await hw.sql<{ ms: number }[]>`
      select extract(epoch from ended_at)::float8 * 1000 as ms from executions where id = ${execution?.id ?? ''}`;
    return row?.ms ?? 0;
  };
  expect(again?.steps[0]?.runs).toBe(2);
  expect(delayed?.steps[0]?.value).toBeGreaterThanOrEqual(again?.steps[0]?.value as number);
  expect(last?.steps[0]?.value).toBeGreaterThanOrEqual(again?.steps[0]?.value as number);
  expect(await endOf(last)).toBeLessThan(await endOf(delayed));
});

it('clients that wait for the answer get that of their own execution, in turn', async () => {
  const { endpoint } = await flow(
    `const { n } = steps.trigger.event.body; await $.respond({ status: 201, body: { n } });`,
    { concurrency: 1 },
    true,
  );
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => post(endpoint, { n })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  const bodies = await Promise.all(answers.map((answer) => answer.json()));
  expect(bodies).toEqual(Array.from({ length: 10 }, (_, n) => ({ n })));
});

it('with concurrency 1 hundreds run in a second, not one a poll', async () => {
  const { id, endpoint } = await flow('return 1;', { concurrency: 1 });
  await post(endpoint, {});
  await untilExecutions(hw.sql, id, 1);
  await putSettings(hw.sql, id, { concurrency: 1, throttle: { limit: 0, intervalSeconds: 60 } });
  await Promise.all(Array.from({ length: 300 }, () => post(endpoint, {})));
  await putSettings(hw.sql, id, { concurrency: 1 });
  // On an idle machine it takes less than a second; if the end of one did not start the next, it
  // would take an hour.
  await expect.poll(() => queued(id)).toBe(0);
});
