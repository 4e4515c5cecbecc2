import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { echo, makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const NAME = 'maxWorkflowVersionBytes';
const VALUE = LIMITS[NAME];
/** Characters of one prop: almost the maximum. */
const CHARS = 60_000;

/** An action with this many props, each with the default if it is given. */
async function action(props: number, defaults = ''): Promise<string> {
  const value = defaults === '' ? '' : `, default: '${defaults}'.repeat(${CHARS})`;
  const code = `const props = {};
for (let i = 0; i < ${props}; i++) props['p' + i] = { type: 'string', optional: true${value} };
export default { name: 'Props', version: '1', type: 'action', props, run() {} };`;
  return (await hw.api('POST', '/components', { component_code: code })).data.id as string;
}

const stepsOf = (count: number, componentId: string, props: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, i) => ({ namespace: `s${i}`, component_id: componentId, props }));

/** The step that there was no room for. */
function refusedStep({ status, text }: { status: number; text: string }): string | undefined {
  const { limit } = JSON.parse(text) as { limit?: { name: string; value: number; used: number } };
  expect([status, limit?.name, limit?.value]).toEqual([400, NAME, VALUE]);
  expect(limit?.used).toBeGreaterThan(VALUE);
  // Counting stops soon after the limit.
  expect(limit?.used).toBeLessThan(VALUE + 2_000_000);
  return Object.keys(problemsOf({ status, text }))[0];
}

test('defaults count with each step that stores them, and so do the definitions that it shows', async () => {
  const id = await action(16, 'd');
  // Each step has 16 × 60 000 characters of defaults, and as many in its definitions.
  const fitting = Math.floor(VALUE / (2 * 16 * (CHARS + 100)));
  const made = await makeWorkflow(hw, { steps: stepsOf(fitting, id) });
  expect(made.steps[fitting - 1].props.p15).toHaveLength(CHARS);
  expect(made.steps[fitting - 1].configurable_props[15].default).toHaveLength(CHARS);
  const steps = stepsOf(fitting + 1, id);
  // Definitions of all steps count before the first step's values do.
  const over = `steps.${fitting - 1}`;
  expect(refusedStep(await hw.api('POST', '/workflows', { steps }))).toBe(over);
  expect(refusedStep(await hw.api('PUT', `/workflows/${made.id}`, { steps }))).toBe(over);
  expect(refusedStep(await hw.api('POST', `/workflows/${made.id}/test`, { steps }))).toBe(over);
  expect(await hw.sql`select from deployments where workflow_id = ${made.id}`).toHaveLength(1);
});

test('given values count by the bytes of their text in any language', async () => {
  const id = await action(16);
  // Three bytes per character. A request has fewer bytes than a version may have, and given values
  // are kept for the next version.
  const props = (from: number) =>
    Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`p${from + i}`, '語'.repeat(CHARS / 3)]));
  const { id: workflow } = await makeWorkflow(hw, { steps: stepsOf(10, id, props(0)) });
  expect(refusedStep(await hw.api('PUT', `/workflows/${workflow}`, { steps: stepsOf(10, id, props(8)) }))).toBe(
    'steps.8',
  );
});

test('definitions that were made for one step count with it', async () => {
  const code = `export default { name: 'Dynamic', version: '1', type: 'action',
  props: { kind: { type: 'string', reloadProps: true } }, run() {},
  additionalProps() {
    const wide = { type: 'string', default: 'd'.repeat(${CHARS}) };
    return { p0: wide, p1: wide, p2: wide, p3: wide };
  } };`;
  const { data } = await hw.api('POST', '/components', { component_code: code });
  const props = { kind: 'a', p0: '', p1: '', p2: '', p3: '' };
  const steps = stepsOf(Math.floor(VALUE / (4 * CHARS)) + 1, data.id, props);
  const last = `steps.${steps.length - 1}`;
  expect(refusedStep(await hw.api('POST', '/workflows', { steps }))).toBe(last);
});

test('a version that is larger already goes on, also with other settings', async () => {
  const { id } = await makeWorkflow(hw, { steps: [echo('a', { text: 'a' })] });
  await hw.sql`
    update deployments set steps = jsonb_set(steps, '{0,configuredProps}', (
      select jsonb_object_agg('p' || n, repeat('x', ${CHARS}::int)) || '{"text":"b"}' from generate_series(1, 150) n
    )) where workflow_id = ${id}`;
  const { status, data } = await hw.api('PUT', `/workflows/${id}`, { settings: { retries: 1 } });
  expect([status, data.version, data.steps[0].props]).toEqual([200, 2, { text: 'b' }]);
  const [row] = await hw.sql`
    select octet_length(steps::text) as bytes from deployments where workflow_id = ${id} and version = 2`;
  expect(row?.['bytes']).toBeGreaterThan(VALUE);
  expect((await hw.api('POST', `/workflows/${id}/test`)).data.steps[0].$return_value).toEqual({ text: 'b' });
  expect((await hw.api('POST', `/workflows/${id}/run`)).status).toBe(200);
});
