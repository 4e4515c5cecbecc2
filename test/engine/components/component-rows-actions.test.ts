import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { makeWorkflow, problemsOf, type Workflow } from '../../support/workflow-steps.ts';

const KB = 1024;

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

/** Runs the workflow with the event and returns the value of its last step. */
async function run({ id }: Workflow, event: unknown = {}): Promise<unknown> {
  expect((await hw.api('POST', `/workflows/${id}/run`, { event })).status).toBe(200);
  const [execution] = await untilExecutions(hw.sql, id, 1);
  expect(execution?.error).toBeNull();
  return execution?.steps.at(-1)?.value;
}

test('action: run gets { $, steps }, that of a source its event and no $', async () => {
  const shown = await run(
    await makeWorkflow(hw, {
      steps: [
        {
          namespace: 'look',
          component_code: `export default { name: 'Look', version: '1', type: 'action',
            run() { const [given, ...more] = arguments;
              return { given: Object.keys(given).toSorted(), more: more.length, global: typeof $ }; } };`,
        },
      ],
    }),
  );
  expect(shown).toEqual({ given: ['$', 'steps'], more: 0, global: 'undefined' });
  const source = await hw.deploy(`export default { name: 'Looks', version: '1',
    run() { this.$emit([...arguments, typeof $, typeof arguments[0].steps]); } };`);
  await hw.api('POST', `/sources/${source.id}/run`, { event: { a: 1 } });
  const [event] = await hw.untilEvents(source.id, 1);
  expect(event?.event).toEqual([{ a: 1 }, 'undefined', 'undefined']);
});

test('action: what it returns and exports is there for later steps, under its name', async () => {
  const made = await makeWorkflow(hw, {
    steps: [
      { namespace: 'first', component_code: action('$.export("name", "Ada"); return [{ id: 7 }];') },
      {
        namespace: 'last',
        component_code: action('return [this.id, steps.first.name, steps.first.$return_value];', 'id: "integer"'),
        props: { id: '{{steps.first.$return_value[0].id}}' },
      },
    ],
  });
  expect(await run(made)).toEqual([7, 'Ada', [{ id: 7 }]]);
});

test('props: an expression counts as its text, however much it comes to', async () => {
  const length = { namespace: 'length', component_code: action('return this.text.length;', 'text: "string"') };
  const made = await makeWorkflow(hw, { steps: [{ ...length, props: { text: '{{steps.trigger.event.text}}' } }] });
  expect(await run(made, { text: 'x'.repeat(200 * KB) })).toBe(200 * KB);
  const text = `${'x'.repeat(64 * KB)}{{steps.trigger.event.text}}`;
  const refused = await hw.api('POST', '/workflows', { steps: [{ ...length, props: { text } }] });
  expect(refused.status).toBe(400);
  expect(problemsOf(refused)['steps.0.props.text']).toContain('at most 65536 are allowed');
});

test('environment variables are read by props of steps alone', async () => {
  await hw.api('PUT', '/environment_variables/REGION', { value: 'the-north-of-europe' });
  const given = { namespace: 'given', component_code: action('return this.region.length;', 'region: "string"') };
  const made = await makeWorkflow(hw, {
    steps: [
      { ...given, props: { region: '{{env.REGION}}' } },
      { namespace: 'looks', component_code: action('return [process.env.REGION ?? null, typeof env];') },
    ],
  });
  expect(await run(made)).toEqual([null, 'undefined']);
  const [execution] = await untilExecutions(hw.sql, made.id, 1);
  expect(execution?.steps[0]?.value).toBe('the-north-of-europe'.length);
  const source = await hw.deploy(
    `export default { name: 'Looks', version: '1', props: { region: 'string' },
      run() { this.$emit([this.region, process.env.REGION ?? null]); } };`,
    { region: '{{env.REGION}}' },
  );
  await hw.api('POST', `/sources/${source.id}/run`, { event: {} });
  const [event] = await hw.untilEvents(source.id, 1);
  expect(event?.event).toEqual(['{{env.REGION}}', null]);
});
