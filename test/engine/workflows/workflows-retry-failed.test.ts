import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { action, readExecutions, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  [hw, receiver] = await Promise.all([sharedHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});
beforeEach(() => {
  receiver.requests.length = 0;
});

const steps = () => [
  { namespace: 'first', code: action(`await fetch("${receiver.url}/first"); return 1;`) },
  {
    namespace: 'second',
    code: action(`if ((await fetch("${receiver.url}/second")).status !== 200) throw new Error('refused');`),
  },
];
const asked = (path: string) => receiver.requests.filter(({ url }) => url === path).length;
const retry = async (id: string, choice: Record<string, unknown> = {}) => {
  const { status, data } = await hw.api('POST', `/workflows/${id}/executions/retry`, choice);
  return status === 200 ? (data.count as number) : status;
};

test('failed executions of a workflow are retried together from the step that failed, each once', async () => {
  const { id, endpointKey } = await insertWorkflow(hw.sql, { accountId: hw.accountId, steps: steps() });
  receiver.answer = ({ url }) => ({ status: url === '/second' ? 500 : 200 });
  await Promise.all([1, 2, 3].map(() => post(`${hw.url}/e/${endpointKey}`, {})));
  const failed = await untilExecutions(hw.sql, id, 3, ['failed']);
  expect(await retry(id, { code: 'RUN_ABANDONED' })).toBe(0);
  expect(await retry(id, { until_ms: 1 })).toBe(0);
  expect(await retry(id, { since_ms: Date.now() + 60_000 })).toBe(0);

  receiver.answer = {};
  // At the same time: each is replayed by one of them.
  const counts = await Promise.all([retry(id, { code: 'COMPONENT_ERROR', since_ms: 1 }), retry(id)]);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  const all = await untilExecutions(hw.sql, id, 6);
  expect(all.map(({ status }) => status).toSorted()).toEqual([
    ...Array(3).fill('failed'),
    ...Array(3).fill('succeeded'),
  ]);
  expect([asked('/first'), asked('/second')]).toEqual([3, 6]);
  const rows = await hw.sql<{ of: string }[]>`
    select replay_of as of from executions where workflow_id = ${id} and replay_of is not null`;
  expect(rows.map((row) => row.of).toSorted()).toEqual(failed.map((one) => one.id).toSorted());
  expect(await retry(id)).toBe(0);
});

test('another account’s workflow, or none, is not there', async () => {
  const other = (await hw.admin('POST', '/accounts', { name: 'other' })).data.id as string;
  const { id } = await insertWorkflow(hw.sql, { accountId: other, steps: steps() });
  expect(await retry(id)).toBe(404);
  expect(await retry(newId('workflow'))).toBe(404);
});

test('a retry from the start runs all steps again', async () => {
  const { id, endpointKey } = await insertWorkflow(hw.sql, { accountId: hw.accountId, steps: steps() });
  receiver.answer = ({ url }) => ({ status: url === '/second' ? 500 : 200 });
  const count = 4;
  for (let n = 0; n < count; n++) await post(`${hw.url}/e/${endpointKey}`, {});
  await untilExecutions(hw.sql, id, count, ['failed']);
  receiver.answer = {};
  expect(await retry(id, { from: 'start' })).toBe(count);
  await untilExecutions(hw.sql, id, 2 * count);
  expect(asked('/first')).toBe(2 * count);
  expect(await readExecutions(hw.sql, id)).toHaveLength(2 * count);
});
