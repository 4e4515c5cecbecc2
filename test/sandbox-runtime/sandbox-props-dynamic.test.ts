import type { RunProp } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { propForms, withProps } from '../support/prop-forms.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const { additional, options, fault } = propForms((code, given) => sandbox.run(code, given));

const value = (given: unknown): RunProp => ({ kind: 'value', value: given });
const ASK = { kind: 'additional-props', previousPropDefs: '{}' } as const;

describe('props: additionalProps', () => {
  test('props: additionalProps: this is bound as in run: configured props, methods and apps', async () => {
    const code = withProps(
      `hub, table: { type: 'string', reloadProps: true }`,
      `methods: { label(name) { return this.hub.who() + ' ' + name; } },
       async additionalProps() { return { [this.table + '_col']: { type: 'string', label: this.label(this.table) } }; },`,
      `const hub = { type: 'app', app: 'hub', methods: { who() { return this.$auth.oauth_uid; } } };`,
    );
    const props: Record<string, RunProp> = {
      table: value('users'),
      hub: { kind: 'app', app: 'hub', auth: { oauth_uid: 'u1' } },
    };
    expect(await additional(code, {}, { props })).toEqual([{ name: 'users_col', type: 'string', label: 'u1 users' }]);
  });

  test('props: additionalProps: previousPropDefs are the props merged with the last answer', async () => {
    const code = withProps(
      `a: { type: 'string', label: 'A' }, b: 'integer'`,
      `additionalProps(previous) { return { seen: { type: 'string', default: JSON.stringify(previous) } }; },`,
    );
    const seen = async (previous: unknown) => {
      const [{ default: text }] = (await additional(code, previous)) as [{ default: string }];
      return JSON.parse(text) as unknown;
    };
    expect(await seen({})).toEqual({ a: { type: 'string', label: 'A' }, b: { type: 'integer' } });
    expect(
      await seen([
        { name: 'c', type: 'boolean' },
        { name: 'a', type: 'string', hidden: true },
      ]),
    ).toEqual({
      a: { name: 'a', type: 'string', label: 'A', hidden: true },
      b: { type: 'integer' },
      c: { name: 'c', type: 'boolean' },
    });
    expect(await seen({ c: { type: 'boolean' } })).toMatchObject({ c: { type: 'boolean' } });
  });

  test('props: additionalProps: definitions of previousPropDefs that were changed belong to the answer', async () => {
    const code = withProps(
      `a: { type: 'string' }, b: { type: 'string', async options() { return ['x']; } }`,
      `additionalProps(previous) { previous.b.hidden = true; return { c: 'string' }; },`,
    );
    expect(await additional(code)).toEqual([
      { name: 'b', type: 'string', options: true, hidden: true },
      { name: 'c', type: 'string' },
    ]);
    // The component's own definitions are as they were: the next answer of a warm isolate starts
    // from them.
    const twice = { isolateKey: 'dc_warmprops:1' };
    await additional(code, {}, twice);
    const other = withProps(`a: 'string'`);
    expect(await additional(other)).toEqual([]);
    expect(await additional(code, {}, twice)).toHaveLength(2);
  });

  test('props: additionalProps: all of previousPropDefs can be returned', async () => {
    const code = withProps(
      `a: { type: 'string', options() { return ['x']; } }`,
      `additionalProps(previous) { previous.a.disabled = true; return previous; },`,
    );
    expect(await additional(code)).toEqual([{ name: 'a', type: 'string', options: true, disabled: true }]);
    const [previous] = (await additional(code)) as [Record<string, unknown>];
    expect(await additional(code, [previous])).toEqual([{ name: 'a', type: 'string', options: true, disabled: true }]);
    expect(await options(code, 'a')).toEqual({ options: [{ label: 'x', value: 'x' }] });
  });

  test('props: additionalProps: the answer takes over definitions of apps, and functions show as true', async () => {
    const code = withProps(
      'hub',
      `additionalProps() { return { repo: { propDefinition: [hub, 'repo'], optional: true }, kind: hub.propDefinitions.kind }; },`,
      `const hub = { type: 'app', app: 'hub', propDefinitions: { repo: { type: 'string', label: 'Repo', async options() {} }, kind: { type: 'string', options: ['a'] } } };`,
    );
    expect(await additional(code)).toEqual([
      { name: 'repo', type: 'string', label: 'Repo', optional: true, options: true, propDefinition: ['hub', 'repo'] },
      { name: 'kind', type: 'string', options: ['a'] },
    ]);
  });

  test('props: additionalProps: options of a dynamic prop are computed from configured props', async () => {
    const code = withProps(
      `table: { type: 'string', reloadProps: true }`,
      `async additionalProps() { return {
         col: { type: 'string', options: async ({ page }) => [this.table + ' ' + page] },
         own: { type: 'string', options() { return [this.table]; } },
         repo: { propDefinition: [hub, 'repo', (c) => ({ table: c.table })] } }; },`,
      `const hub = { type: 'app', app: 'hub', propDefinitions: { repo: { type: 'string', options({ table }) { return [table + ' of ' + this.name()]; } } }, methods: { name() { return 'hub'; } } };`,
    );
    const props = { table: value('users') };
    const first = async (name: string, page = 0) =>
      ((await options(code, name, { page }, { props })) as { options: { value: unknown }[] }).options[0]?.value;
    expect([await first('col', 2), await first('own'), await first('repo')]).toEqual([
      'users 2',
      'users',
      'users of hub',
    ]);
  });

  test('props: additionalProps: no method, and an answer of nothing, are no props', async () => {
    expect(await additional(withProps(`a: 'string'`))).toEqual([]);
    expect(await additional(withProps(`a: 'string'`, `async additionalProps() {},`))).toEqual([]);
  });
});

describe('failures in additionalProps', () => {
  test('a thrown error is the error of the run', async () => {
    const code = withProps(`a: 'string'`, `additionalProps() { throw new Error('no table'); },`);
    expect(await fault(code, ASK)).toMatchObject({ code: 'COMPONENT_ERROR', message: 'no table' });
  });

  test('an answer that is no object, and definitions that are none, are named, all of them', async () => {
    const messageOf = async (answer: string) =>
      (await fault(withProps('', `additionalProps() { return ${answer}; },`), ASK)).message;
    expect(await messageOf(`['a']`)).toContain('must answer an object of prop definitions, not a list');
    expect(await messageOf(`'a'`)).toContain('not a string');
    expect(await messageOf('new Map()')).toContain('not a Map');
    const tagged = 'Object.create(null, { [Symbol.toStringTag]: { value: "Odd" } })';
    expect(await messageOf(tagged)).toContain('not a Odd');
    expect(await messageOf(`{ a: { type: 'strin' }, b: 5, c: { type: 'string', label: 3 } }`)).toBe(
      "additionalProps answers props that cannot be used: props.a.type 'strin' is not a prop type; props.b must be a prop definition such as { type: 'string' }; props.c.label must be a string, not a number",
    );
  });

  test('more than the limit of definitions is refused', async () => {
    const code = withProps(
      '',
      `additionalProps() { return { a: { type: 'string', description: 'x'.repeat(300_000) } }; },`,
    );
    expect(await fault(code, ASK)).toMatchObject({
      code: 'OUTPUT_LIMIT',
      message:
        'The answer of additionalProps has 300 050 bytes of JSON; the limit maxDynamicPropsBytes is 262 144 bytes',
      limit: { name: 'maxDynamicPropsBytes', value: 262_144, used: 300_050 },
    });
  });

  test('nothing can be emitted', async () => {
    const code = withProps('', `additionalProps() { this.$emit(1); },`);
    expect((await fault(code, ASK)).message).toContain('$emit cannot be called while additionalProps are computed');
  });
});

describe('ConfigurationError', () => {
  const CLASS = `class ConfigurationError extends Error { constructor(m) { super(m); this.name = 'ConfigurationError'; this.exposeStack = false; } }`;

  test('thrown in additionalProps it aborts with its message as it is', async () => {
    const code = withProps(
      '',
      `async additionalProps() { throw new ConfigurationError('Add a header row first'); },`,
      CLASS,
    );
    expect(await fault(code, ASK)).toMatchObject({ code: 'CONFIGURATION_ERROR', message: 'Add a header row first' });
  });

  test.each([
    ['run', { kind: 'run', event: '{}' }],
    ['hooks', { kind: 'hook', hook: 'deploy' }],
    ['options', { kind: 'options', prop: 'n', page: 0 }],
  ] as const)('thrown in %s it has a code of its own', async (_where, entry) => {
    const code = `${CLASS} const fail = async () => { throw new ConfigurationError('Choose another'); };
      export default { name: 't', version: '1', props: { n: { type: 'string', options: fail } }, hooks: { deploy: fail }, run: fail };`;
    expect(await fault(code, entry)).toMatchObject({ code: 'CONFIGURATION_ERROR', message: 'Choose another' });
  });

  test('it is known by the name of its class or of the error', async () => {
    const byClass = withProps(
      '',
      `additionalProps() { throw new ConfigurationError('a'); },`,
      'class ConfigurationError extends Error {}',
    );
    const byName = withProps(
      '',
      `additionalProps() { throw Object.assign(new Error('b'), { name: 'ConfigurationError' }); },`,
    );
    const other = withProps('', `additionalProps() { throw Object.assign(new Error('c'), { name: 'OtherError' }); },`);
    expect(await fault(byClass, ASK)).toMatchObject({ code: 'CONFIGURATION_ERROR', message: 'a' });
    expect(await fault(byName, ASK)).toMatchObject({ code: 'CONFIGURATION_ERROR', message: 'b' });
    expect(await fault(other, ASK)).toMatchObject({ code: 'COMPONENT_ERROR', message: 'OtherError: c' });
  });

  test('thrown while the module loads it is one as well', async () => {
    const code = `${CLASS}; throw new ConfigurationError('No key'); export default { name: 't', version: '1', run() {} };`;
    expect(await fault(code, { kind: 'run', event: '{}' })).toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: 'No key',
    });
  });
});
