import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

async function answerOf(run: string) {
  const steps = [{ namespace: 'one', code: action(run) }];
  const { id, endpointKey } = await insertWorkflow(hw.sql, { steps, customResponse: true, accountId: hw.accountId });
  const answer = await post(`${hw.url}/e/${endpointKey}`, {});
  const text = await answer.text();
  const [execution] = await untilExecutions(hw.sql, id, 1);
  return { status: answer.status, text, ended: execution?.status };
}

test('$.respond without a status answers 200, at once or at the end', async () => {
  expect(await answerOf('await $.respond({ immediate: true });')).toEqual({
    status: 200,
    text: '',
    ended: 'succeeded',
  });
  expect(await answerOf('$.respond({ body: { a: 1 } });')).toEqual({
    status: 200,
    text: '{"a":1}',
    ended: 'succeeded',
  });
  expect(await answerOf('$.respond({ status: undefined, body: "b" });')).toMatchObject({ status: 200, text: 'b' });
});

test('a status that is given and none fails the step', async () => {
  for (const status of ['null', '"fine"', '99'])
    expect(await answerOf(`$.respond({ status: ${status} });`)).toMatchObject({ status: 400, ended: 'failed' });
});

test('http.respond of a source takes no answer without a status', async () => {
  const { endpoint } = await hw.deploy(`export default { name: 'S', version: '1',
    props: { http: { type: '$.interface.http', customResponse: true } },
    run() { this.http.respond({ body: 'no status' }); } };`);
  const answer = await post(endpoint, {});
  expect(answer.status).toBe(400);
  // The text of the error is the owner's alone.
  expect(await answer.text()).toContain('The source failed before it responded');
});
