import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { makeWorkflow } from '../../support/workflow-steps.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const code = (namespace: string, run: string) => ({
  namespace,
  component_code: `export default { run({ steps, $ }) { ${run} } };`,
});

test('only the owner resumes a waiting execution, and only once', async () => {
  const workflow = await makeWorkflow(hw, {
    steps: [code('ask', '$.flow.suspend(3600000)'), code('after', 'return steps.ask.$resume_data')],
  });
  const { data } = await hw.api('POST', `/workflows/${workflow.id}/run`, {});
  const path = `/executions/${data.execution_id}`;
  const statusOf = async () => (await hw.api('GET', path)).data.status;
  await expect.poll(statusOf).toBe('waiting');
  const { data: other } = await hw.admin('POST', '/accounts', { name: 'Neighbour' });
  expect((await hw.as(other.api_key)('POST', `${path}/resume`, {})).status).toBe(404);
  expect((await hw.api('POST', `${path}/resume`, { data: { approved: true } })).status).toBe(204);
  await expect.poll(statusOf).toBe('succeeded');
  const { data: ended } = await hw.api('GET', path);
  expect(ended.steps.after.$return_value).toEqual({ approved: true });
  const again = await hw.api('POST', `${path}/resume`, {});
  expect(again.status).toBe(409);
  expect(again.text).toContain('does not wait');
});
