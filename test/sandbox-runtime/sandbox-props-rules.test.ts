import type { FieldError, PropDefinition } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { propForms, withProps } from '../support/prop-forms.ts';
import { bundle, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const { options } = propForms((code, given) => sandbox.run(code, given));

async function describeIt(code: string) {
  return await sandbox.get().describe('o_test', await bundle(code));
}

async function errorsOf(code: string): Promise<FieldError[]> {
  const outcome = await describeIt(code);
  return outcome.ok ? [] : outcome.errors;
}

async function propsOf(props: string): Promise<PropDefinition[]> {
  const outcome = await describeIt(withProps(props));
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.errors));
  return outcome.description.props;
}

/** Errors of a prop with this definition, one line each. */
async function wrongIn(definition: string): Promise<string[]> {
  return (await errorsOf(withProps(`p: ${definition}`))).map(({ path, message }) => `${path} ${message}`);
}

describe('component: module object', () => {
  const component = (members: string) => `export default { ${members} };`;

  test.each([
    ['name', `version: '1', run() {}`, 'name is missing'],
    ['version', `name: 'a', run() {}`, 'version is missing'],
    ['run', `name: 'a', version: '1'`, 'run is missing: the method that is called for each event'],
  ])('component: %s is required', async (path, members, message) => {
    expect(await errorsOf(component(members))).toEqual([{ path, message }]);
  });

  test('component: without a type it is a source, and action is the only other type', async () => {
    const typeOf = async (type: string) => {
      const outcome = await describeIt(component(`${type} name: 'a', version: '1', run() {}`));
      return outcome.ok ? outcome.description.type : outcome.errors.map(({ message }) => message);
    };
    expect(await typeOf('')).toBe('source');
    expect(await typeOf(`type: 'source',`)).toBe('source');
    expect(await typeOf(`type: 'action',`)).toBe('action');
    expect(await typeOf(`type: 'trigger',`)).toEqual(["type must be 'source', 'action' or 'transform'"]);
  });

  test('component: dedupe is unique, greatest or last', async () => {
    for (const dedupe of ['unique', 'greatest', 'last'])
      expect(await errorsOf(component(`name: 'a', version: '1', dedupe: '${dedupe}', run() {}`))).toEqual([]);
    expect(await errorsOf(component(`name: 'a', version: '1', dedupe: 'first', run() {}`))).toEqual([
      { path: 'dedupe', message: 'dedupe must be one of unique, greatest, last' },
    ]);
  });

  test('component: key is a name that fits into a URL', async () => {
    const keyed = (key: string) => errorsOf(component(`name: 'a', version: '1', key: '${key}', run() {}`));
    expect(await keyed('_0app-new.item_2')).toEqual([]);
    for (const key of ['a b', 'a/b', '', 'ä', 'a?b'])
      expect(await keyed(key)).toMatchObject([{ path: 'key', message: expect.stringContaining('key') }]);
  });

  test('component: version has no constraint on its format, and description may be markdown', async () => {
    const outcome = await describeIt(
      component(`name: 'a', version: 'second try', description: '**bold** [x](https://e.example)', run() {}`),
    );
    expect(outcome).toMatchObject({
      ok: true,
      description: { version: 'second try', description: '**bold** [x](https://e.example)' },
    });
  });

  test('component: hasAdditionalProps says whether it computes props', async () => {
    expect(await describeIt(withProps(''))).toMatchObject({ description: { hasAdditionalProps: false } });
    expect(await describeIt(withProps('', 'async additionalProps() { return {}; },'))).toMatchObject({
      description: { hasAdditionalProps: true },
    });
  });
});

describe('props: rules', () => {
  test('props: type: every type is known, and string, integer and boolean have an array form', async () => {
    const types = [
      'string integer number boolean object any sql http_request data_store dir',
      'string[] integer[] number[] boolean[] $.interface.http $.interface.timer $.service.db',
    ].flatMap((line) => line.split(' '));
    const props = await propsOf(types.map((type, i) => `p${i}: { type: '${type}' }`).join());
    expect(props.map(({ type }) => type)).toEqual(types);
  });

  test('props: type: app, object, any, interfaces and services have no array form', async () => {
    for (const type of [
      'app',
      'object',
      'any',
      'data_store',
      'http_request',
      'sql',
      'alert',
      '$.interface.http',
      '$.service.db',
    ])
      expect(await wrongIn(`{ type: '${type}[]' }`)).toEqual([
        `props.p.type '${type}[]' is not a prop type: ${type} has no array form`,
      ]);
    expect(await wrongIn(`{ type: 'strings' }`)).toEqual([`props.p.type 'strings' is not a prop type`]);
    expect(await wrongIn(`{}`)).toEqual(['props.p.type type is missing']);
  });

  test('props: label, description, optional, hidden, disabled, reloadProps and useQuery are shown as they are', async () => {
    const given = {
      label: 'L',
      description: '**d**',
      optional: true,
      hidden: true,
      disabled: false,
      reloadProps: true,
      useQuery: true,
    };
    expect(await propsOf(`p: ${JSON.stringify({ type: 'string', ...given })}`)).toEqual([
      { name: 'p', type: 'string', ...given },
    ]);
    expect(await wrongIn(`{ type: 'string', label: 5, optional: 'yes', hidden: 1, reloadProps: 'x' }`)).toEqual([
      'props.p.label must be a string, not a number',
      'props.p.optional must be a boolean, not a string',
      'props.p.reloadProps must be a boolean, not a string',
      'props.p.hidden must be a boolean, not a number',
    ]);
  });

  test('props: default: kept on optional props, and on required ones too', async () => {
    expect(
      await propsOf(`a: { type: 'string', optional: true, default: 'x' }, b: { type: 'integer', default: 5 }`),
    ).toEqual([
      { name: 'a', type: 'string', optional: true, default: 'x' },
      { name: 'b', type: 'integer', default: 5 },
    ]);
  });

  test('props: secret: only string props can be secret', async () => {
    expect(await wrongIn(`{ type: 'string', secret: true }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'string[]', secret: true }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'integer', secret: false }`)).toEqual([]);
    for (const type of ['integer', 'boolean', 'object', 'any'])
      expect(await wrongIn(`{ type: '${type}', secret: true }`)).toEqual([
        `props.p.secret only string props can be secret, not one of type ${type}`,
      ]);
  });

  test('props: min and max: only integer props have them, and min is not above max', async () => {
    expect(await wrongIn(`{ type: 'integer', min: 1, max: 1 }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'integer[]', min: -1 }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'string', min: 1, max: 2 }`)).toEqual([
      'props.p.min only integer props have min, not one of type string',
      'props.p.max only integer props have max, not one of type string',
    ]);
    expect(await wrongIn(`{ type: 'integer', min: 1.5 }`)).toEqual(['props.p.min must be a whole number']);
    expect(await wrongIn(`{ type: 'integer', max: '5' }`)).toEqual(['props.p.max must be a number, not a string']);
    expect(await wrongIn(`{ type: 'integer', min: 2, max: 1 }`)).toEqual([
      'props.p.min is larger than max, which is 1',
    ]);
  });

  test('props: options: a list of values, a list of { label, value }, or a method', async () => {
    for (const good of [
      `['a', 'b']`,
      `[1, 2]`,
      `[{ label: 'A', value: 'a' }]`,
      `['a', { label: 'B', value: 1 }]`,
      `[]`,
      `null`,
      `() => []`,
    ])
      expect(await wrongIn(`{ type: 'string', options: ${good} }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'string', options: { a: 'A' } }`)).toEqual([
      'props.p.options must be a list of values, a list of { label, value } objects, or a method',
    ]);
    expect(await wrongIn(`{ type: 'string', options: ['a', { id: 1 }] }`)).toEqual([
      'props.p.options[1] must be a string, a number, a boolean or { label, value }',
    ]);
  });

  test('props: alert: has content, and one of four types', async () => {
    expect(await wrongIn(`{ type: 'alert', alertType: 'warning', content: 'Mind the **gap**' }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'alert', content: 'x' }`)).toEqual([]);
    expect(await wrongIn(`{ type: 'alert', alertType: 'loud' }`)).toEqual([
      'props.p.alertType must be one of info, neutral, warning, error',
      'props.p.content is missing: the text of the alert',
    ]);
  });

  test('props: app: names the slug of its app', async () => {
    expect(await propsOf(`p: { type: 'app', app: 'github' }`)).toEqual([{ name: 'p', type: 'app', app: 'github' }]);
    expect(await wrongIn(`{ type: 'app' }`)).toEqual(['props.p.app is missing: the slug of the app']);
  });

  test('props: everything that is wrong is reported at once', async () => {
    expect(
      await errorsOf(withProps(`a: { type: 'app[]' }, b: { type: 'string', min: 1 }, c: { type: 'alert' }, d: 5`)),
    ).toHaveLength(4);
  });

  test('a prop of an app takes the rules of the type that it has there', async () => {
    const app = `const app = { type: 'app', app: 'x', propDefinitions: { n: { type: 'string' } } };`;
    expect(await errorsOf(withProps(`p: { propDefinition: [app, 'n'], max: 3 }`, '', app))).toEqual([
      { path: 'props.p.max', message: 'only integer props have max, not one of type string' },
    ]);
    expect(await options(withProps(`p: { propDefinition: [app, 'n'], options: ['a'] }`, '', app), 'p')).toEqual({
      options: [{ label: 'a', value: 'a' }],
    });
  });
});

describe('props that are no definitions are told, never dropped', () => {
  const NO_DEFINITION = `must be a prop definition such as { type: 'string' }`;
  const NO_OBJECT = 'props props must be an object of prop definitions';
  const TOO_FAR = 'through too many others: a propDefinition must not lead back to itself';
  const app = (definitions: string) => `const app = { type: 'app', app: 'tool', propDefinitions: ${definitions} };`;
  const taking = (definitions: string) =>
    `${app(definitions)} export default { name: 'a', version: '1', props: { app, p: { propDefinition: [app, 'p'] } }, run() {} };`;
  const plain = (props: string) => `export default { name: 'a', version: '1', props: ${props}, run() {} };`;

  test.each([
    [plain('{ p() {} }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: class {} }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: Symbol("p") }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: 1n }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: null }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: 5 }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: true }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: [] }'), `props.p ${NO_DEFINITION}`],
    [plain('{ p: { type: "string", default: () => "x" } }'), 'props.p.default must be a value, not a function'],
    [plain('{ p: { type: "string", label() {} } }'), 'props.p.label must be a value, not a function'],
    [
      plain('{ p: { type: "string", optional: async () => true } }'),
      'props.p.optional must be a value, not a function',
    ],
    [plain('() => ({})'), NO_OBJECT],
    [plain('5'), NO_OBJECT],
    [plain('[]'), NO_OBJECT],
    [plain('new Map([["p", { type: "string" }]])'), NO_OBJECT],
    [plain('{ __proto__: { type: "string" } }'), 'props.__proto__ this name is reserved'],
    [plain('{ ["__proto__"]: { type: "string" } }'), 'props.__proto__ this name is reserved'],
    [plain('Object.create({ p: { type: "string" } })'), 'props.__proto__ this name is reserved'],
    [
      `${app('{ p: {} }')} app.propDefinitions.p.propDefinition = [app, 'p']; export default { name: 'a', version: '1', props: { p: { propDefinition: [app, 'p'] } }, run() {} };`,
      `props.p.propDefinition leads to propDefinitions.p ${TOO_FAR}`,
    ],
    [
      `${app('{ p: {}, q: {} }')} app.propDefinitions.p.propDefinition = [app, 'q']; app.propDefinitions.q.propDefinition = [app, 'p']; export default { name: 'a', version: '1', props: { p: { propDefinition: [app, 'p'] } }, run() {} };`,
      expect.stringContaining(TOO_FAR),
    ],
    [taking('{ p() {} }'), 'props.p.propDefinition The app tool has no propDefinitions.p: there are none'],
    [
      taking('{ p: null, q: {} }'),
      expect.stringContaining('props.p.propDefinition The app tool has no propDefinitions.p'),
    ],
    [
      taking('{ p: { propDefinition: [5] } }'),
      'props.p.propDefinition must be [app, name, inputValues]: an app, and the name of a prop of it',
    ],
  ])('%s', async (code, error) => {
    const errors = (await errorsOf(code)).map(({ path, message }) => `${path} ${message}`);
    expect(errors[0]).toEqual(error);
    expect(errors[0]).not.toContain('did you mean p');
  });

  test('a prop that is undefined is none', async () => {
    expect(await propsOf('p: undefined, q: "string"')).toMatchObject([{ name: 'q' }]);
  });
});
