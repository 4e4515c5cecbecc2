import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());
afterEach(() => vi.restoreAllMocks());

const EXPRESSIONS = 3_000;
const MANY = '{{1}}'.repeat(EXPRESSIONS);

const code = (prop: string) =>
  `export default { name: 'Text', version: '1', type: 'action', props: { text: { type: 'string', ${prop} } }, run() {} };`;
const step = (prop: string, props: Record<string, unknown> = {}) => ({
  namespace: 'a',
  component_code: code(prop),
  props,
});

/**
 * How often work looked whether others should have the thread: between the expressions, where
 * nothing else is as much.
 */
async function looksDuring(work: () => Promise<unknown>): Promise<number> {
  const looks = vi.spyOn(performance, 'eventLoopUtilization');
  await work();
  return looks.mock.calls.length;
}

test('others have the thread between the expressions of a value that is given, or chosen with its label', async () => {
  const values = { given: MANY, chosen: { __lv: { label: 'Many', value: MANY } }, list: [{ __lv: { value: MANY } }] };
  for (const text of Object.values(values)) {
    const type = Array.isArray(text) ? "type: 'string[]'" : 'optional: true';
    expect(await looksDuring(() => makeWorkflow(hw, { steps: [step(type, { text })] }))).toBeGreaterThan(EXPRESSIONS);
  }
});

test('and between those of a default, and of a value that is kept', async () => {
  const byDefault = step(`default: '{{1}}'.repeat(${EXPRESSIONS})`);
  expect(await looksDuring(() => makeWorkflow(hw, { steps: [byDefault] }))).toBeGreaterThan(EXPRESSIONS);
  const { id } = await makeWorkflow(hw, { steps: [step('optional: true', { text: MANY })] });
  const keep = () => hw.api('PUT', `/workflows/${id}`, { steps: [step('optional: true')] });
  expect(await looksDuring(keep)).toBeGreaterThan(EXPRESSIONS);
});

test('each of them counts once', async () => {
  // Twice as many are more than a version may have.
  const { steps } = await makeWorkflow(hw, {
    steps: [step('optional: true', { text: { __lv: { label: MANY, value: MANY } } })],
  });
  expect(steps[0].props.text).toBe(MANY);
});

test('errors of expressions are reported together with all other errors', async () => {
  const both = `export default { name: 'Both', version: '1', type: 'action',
    props: { a: { type: 'string', default: '{{nope}}' }, b: 'integer', c: 'string' }, run() {} };`;
  const steps = [{ namespace: 'a', component_code: both, props: { b: 'x', c: { __lv: { value: '{{' } } } }];
  expect(problemsOf(await hw.api('POST', '/workflows', { steps }))).toEqual({
    'steps.0.props.a': expect.stringContaining('nope is not known'),
    'steps.0.props.b': expect.stringContaining('integer'),
    'steps.0.props.c': expect.stringContaining('at character'),
  });
  const large = { b: 1, c: 'x'.repeat(70_000) };
  const answer = await hw.api('POST', '/workflows', {
    steps: [{ namespace: 'a', component_code: both, props: large }],
  });
  expect(Object.keys(problemsOf(answer)).toSorted()).toEqual(['steps.0.props.a', 'steps.0.props.c']);
  expect(JSON.parse(answer.text)).toMatchObject({ status: 400, limit: { name: 'maxPropValueBytes' } });
});

test('variables in defaults are named in the step', async () => {
  await hw.api('PUT', '/environment_variables/THERE', { value: 'v' });
  const there = await makeWorkflow(hw, { steps: [step("default: '{{env.THERE}}'")] });
  const [row] = await hw.sql`select steps #>> '{0,env}' as env from deployments where workflow_id = ${there.id}`;
  expect(row?.['env']).toBe('["THERE"]');
  const gone = await hw.api('POST', '/workflows', { steps: [step("default: '{{env.GONE}}'")] });
  expect(problemsOf(gone)).toEqual({ 'steps.0.props.text': expect.stringContaining('no environment variable GONE') });
});
