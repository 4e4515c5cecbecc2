import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { makeWorkflow, type Workflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const action = (run: string) => `export default { name: 'A', version: '1', type: 'action', key: 'a-${run.length}',
  run({ $ }) { ${run} } };`;
const ANSWERS = action('$.respond ({ status: 201, body: "mine" });');
const QUIET = action('return 1;');
const COMMENTED = action('/* $.respond({ status: 201 }) */ return 2;');

const http = { type: 'http' };
const step = (code: string) => ({ namespace: 'a', component_code: code });

async function update(flow: Workflow, change: Record<string, unknown>): Promise<Workflow> {
  const answer = await hw.api('PUT', `/workflows/${flow.id}`, change);
  if (answer.status !== 200) throw new Error(`workflow: ${answer.status} ${answer.text}`);
  return answer.data;
}

const responses = ({ triggers }: Workflow) =>
  (triggers as { custom_response?: boolean }[]).map(({ custom_response: one }) => one);

test('an update that names triggers without steps leaves the answers of a workflow on', async () => {
  const made = await makeWorkflow(hw, { triggers: [http], steps: [step(ANSWERS)] });
  expect(responses(made)).toEqual([true]);
  const updated = await update(made, { triggers: [http, { ...http }, { interval_seconds: 3600 }] });
  expect(responses(updated)).toEqual([true, true, undefined]);
  expect(updated.triggers[0].id).toBe(made.triggers[0].id);
  const answer = await post(updated.triggers[1].endpoint_url, {});
  expect([answer.status, await answer.text()]).toEqual([201, 'mine']);
});

test('an update that names steps without triggers switches the answers on, and one of settings does not', async () => {
  const made = await makeWorkflow(hw, { triggers: [http], steps: [step(QUIET)] });
  expect(responses(made)).toEqual([false]);
  const updated = await update(made, { steps: [step(ANSWERS)] });
  expect(responses(updated)).toEqual([true]);
  expect((await post(updated.triggers[0].endpoint_url, {})).status).toBe(201);
  await hw.sql`update deployments set triggers = jsonb_set(triggers, '{0,customResponse}', 'false') where workflow_id = ${made.id}`;
  expect(responses(await update(made, { settings: { retries: 1 } }))).toEqual([false]);
});

test('a step by component_key or component_id is seen to answer, and code of a comment is not', async () => {
  for (const code of [ANSWERS, COMMENTED]) {
    const { data: component } = await hw.api('POST', '/components', { component_code: code });
    const { id: component_id, key: component_key } = component;
    expect(component_key).toMatch(/^a-/);
    for (const named of [{ component_key }, { component_id }]) {
      const made = await makeWorkflow(hw, { triggers: [http], steps: [{ namespace: 'a', ...named }] });
      expect(responses(made)).toEqual([code === ANSWERS]);
    }
  }
});

test('a step with a local $ is still seen to answer', async () => {
  // The bundler calls the inner one $2.
  const code = `const $ = 1; const one = () => $; ${ANSWERS.replace('{ $.', '{ one(); $.')}`;
  const { data: component } = await hw.api('POST', '/components', { component_code: code });
  const made = await makeWorkflow(hw, { triggers: [http], steps: [{ namespace: 'a', component_id: component.id }] });
  expect(responses(made)).toEqual([true]);
});

test('a kept trigger keeps its value after the last step with $.respond is gone', async () => {
  const made = await makeWorkflow(hw, { triggers: [http], steps: [step(ANSWERS)] });
  expect(responses(await update(made, { steps: [step(QUIET)] }))).toEqual([true]);
  expect(responses(await update(made, { triggers: [http] }))).toEqual([true]);
  expect(responses(await update(made, { triggers: [] }))).toEqual([]);
  expect(responses(await update(made, { triggers: [http] }))).toEqual([false]);
});

test('a value set by the owner holds, also in updates without it', async () => {
  const silent = { type: 'http', custom_response: false };
  const made = await makeWorkflow(hw, { triggers: [silent, http], steps: [step(ANSWERS)] });
  expect(responses(made)).toEqual([false, true]);
  expect(responses(await update(made, { steps: [step(`${ANSWERS}\n// again`)] }))).toEqual([false, true]);
  const [first, second] = made.triggers.map(({ id }: { id: string }) => ({ type: 'http', id }));
  expect(responses(await update(made, { triggers: [second, first] }))).toEqual([true, false]);
  expect(responses(await update(made, { triggers: [{ ...second, custom_response: false }, first] }))).toEqual([
    false,
    false,
  ]);
  const on = await update(made, { triggers: [{ ...first, customResponse: true }], steps: [step(QUIET)] });
  expect(responses(on)).toEqual([true]);
});
