import { expect, test } from 'vitest';
import { LIMITS, platformLimit, type PlatformLimitName } from '../../shared/src/index.ts';
import { propForms, withProps } from '../support/prop-forms.ts';
import { bundle, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const { additional, fault } = propForms((code, given) => sandbox.run(code, given));

const component = (members: string) => `export default { version: '1', run() {}, ${members} };`;
const props = (text: string) => component(`name: 'x', props: ${text}`);
const manyProps = (count: number) =>
  `Object.fromEntries(Array.from({ length: ${count} }, (_, n) => ['p' + n, 'string']))`;
/** The definition is a level, and so is the value in the innermost list. */
const nested = (levels: number) =>
  `{ p: { type: 'any', default: ${'['.repeat(levels - 2)}1${']'.repeat(levels - 2)} } }`;
/** The props, the definition, its type and the list are values as well. */
const values = (count: number) => `{ p: { type: 'any', default: Array(${count - 4}).fill(1) } }`;

async function limitOf(code: string): Promise<unknown> {
  const outcome = await sandbox.get().describe('o_test', await bundle(code));
  return outcome.ok ? undefined : outcome.limit;
}

const one = (name: PlatformLimitName) => platformLimit(name, LIMITS[name] + 1);

test.each<[PlatformLimitName, (count: number) => string]>([
  ['maxProps', (count) => props(manyProps(count))],
  ['maxPropDepth', (count) => props(nested(count))],
  ['maxPropDefinitionValues', (count) => props(values(count))],
])('a component that goes over %s with its props is refused with the limit', async (name, code) => {
  expect(await limitOf(code(LIMITS[name]))).toBeUndefined();
  expect(await limitOf(code(LIMITS[name] + 1))).toEqual(one(name));
});

test.each<[PlatformLimitName, string]>([
  [
    'maxOutlineValues',
    component(
      `name: Array(45000).fill(0), key: Array(45000).fill(0), description: Array(45000).fill(0), props: { p: { type: 'any', default: Array(45000).fill(0) } }`,
    ),
  ],
  ['maxOutlineLists', component(`name: Array(30000).fill([]), key: Array(30000).fill([])`)],
  [
    'maxOutlineNames',
    props(
      `{ p: { type: 'any', default: Object.fromEntries(Array.from({ length: 8000 }, (_, n) => ['a name of some length ' + n, 1])) } }`,
    ),
  ],
])('a component whose description goes over %s is refused with the limit, unread', async (name, code) => {
  expect(await limitOf(code)).toEqual(one(name));
});

const ASK = { kind: 'additional-props', previousPropDefs: '{}' } as const;
const answering = (answer: string) => withProps(`a: 'string'`, `additionalProps() { return ${answer}; },`);

test.each<[PlatformLimitName, string]>([
  ['maxProps', manyProps(LIMITS.maxProps + 1)],
  ['maxPropDepth', nested(LIMITS.maxPropDepth + 1)],
  ['maxPropDefinitionValues', values(LIMITS.maxPropDefinitionValues + 1)],
  ['maxOutlineLists', `{ p: { type: 'any', default: Array(45000).fill([]) } }`],
])('an answer of additionalProps that goes over %s is refused with the limit', async (name, answer) => {
  const { message, limit } = await fault(answering(answer), ASK);
  expect({ message, limit }).toEqual({ message: expect.stringContaining(name), limit: one(name) });
});

test('as many additional props as there may be are answered, besides those of the component', async () => {
  expect(await additional(answering(manyProps(LIMITS.maxProps)))).toHaveLength(LIMITS.maxProps);
});

test.each<[PlatformLimitName, string]>([
  ['maxPropOptionsDepth', `${'['.repeat(LIMITS.maxPropOptionsDepth + 1)}${']'.repeat(LIMITS.maxPropOptionsDepth + 1)}`],
  ['maxOutlineLists', `Array(340000).fill([])`],
  ['maxOutlineValues', `Array(340000).fill(1)`],
])('options whose context goes over %s are refused with the limit', async (name, context) => {
  const code = withProps(`a: { type: 'string', options() { return { options: [], context: ${context} }; } }`);
  const { message, limit } = await fault(code, { kind: 'options', prop: 'a', page: 0 });
  expect({ message, limit }).toEqual({ message: expect.stringContaining(name), limit: one(name) });
});
