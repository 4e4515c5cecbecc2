import type { RunProp } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { propForms, withProps } from '../support/prop-forms.ts';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const { options, fault } = propForms((code, given) => sandbox.run(code, given));

const one = (item: unknown) => ({ options: [{ label: String(item), value: item }] });
const value = (given: unknown): RunProp => ({ kind: 'value', value: given });
const auth = (uid: string): RunProp => ({ kind: 'app', app: 'hub', auth: { oauth_uid: uid } });

const HUB = `const hub = { type: 'app', app: 'hub',
  propDefinitions: {
    repo: { type: 'string', async options({ owner, page }) { return [[owner, page, this.who(), this.$auth.oauth_uid].join(' ')]; } },
    branch: { type: 'string', options: ['main', 'dev'] },
    all: { type: 'string', options(given) { return [JSON.stringify(given)]; } },
  },
  methods: { who() { return 'by ' + this.$auth.oauth_uid; } } };`;

describe('props: options', () => {
  test('props: options: a list of strings has its values as labels', async () => {
    expect(await options(withProps(`color: { type: 'string', options: ['red', 'blue'] }`), 'color')).toEqual({
      options: [
        { label: 'red', value: 'red' },
        { label: 'blue', value: 'blue' },
      ],
    });
  });

  test('props: options: a list of { label, value } objects keeps both', async () => {
    const code = withProps(`n: { type: 'integer', options: [{ label: 'One', value: 1 }, { value: 2 }, 3] }`);
    expect(await options(code, 'n')).toEqual({
      options: [
        { label: 'One', value: 1 },
        { label: '2', value: 2 },
        { label: '3', value: 3 },
      ],
    });
  });

  test('props: async options: the method is called with the component as its this, methods and configured props included', async () => {
    const code = withProps(
      `city: { type: 'string' }, place: { type: 'string', async options() { return [this.title(this.city)]; } }`,
      `methods: { title(city) { return 'Places in ' + city; } },`,
    );
    expect(await options(code, 'place', {}, { props: { city: value('Ghent') } })).toEqual(one('Places in Ghent'));
  });

  test('props: async options: page is 0-indexed', async () => {
    const code = withProps(`n: { type: 'integer', async options({ page }) { return [page]; } }`);
    expect(await options(code, 'n')).toEqual(one(0));
    expect(await options(code, 'n', { page: 3 })).toEqual(one(3));
  });

  test('props: async options: prevContext is the context of the last answer, and empty before the first', async () => {
    const code = withProps(`n: { type: 'string', async options({ prevContext: { nextPageToken } }) {
      return { options: [nextPageToken ?? 'first'], context: { nextPageToken: (nextPageToken ?? '') + 'x' } }; } }`);
    const first = await options(code, 'n');
    expect(first).toEqual({ ...one('first'), context: { nextPageToken: 'x' } });
    const { context } = first as { context: unknown };
    expect(await options(code, 'n', { page: 1, prevContext: context })).toEqual({
      ...one('x'),
      context: { nextPageToken: 'xx' },
    });
    const asText = withProps(`n: { type: 'string', options({ prevContext }) { return [prevContext]; } }`);
    expect(await options(asText, 'n', { prevContext: 'token' })).toEqual(one('token'));
  });

  test('props: async options: query is the text of the user with useQuery, and absent without', async () => {
    const code = (more: string) =>
      withProps(`n: { type: 'string', ${more} options(o) { return ['query' in o ? o.query : 'none']; } }`);
    expect(await options(code('useQuery: true,'), 'n', { query: 'abc' })).toEqual(one('abc'));
    expect(await options(code('useQuery: true,'), 'n')).toEqual(one('none'));
    expect(await options(code(''), 'n', { query: 'abc' })).toEqual(one('none'));
  });

  test('props: async options: the method may make requests, also with those of an app', async () => {
    const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, '["from afar"]')) });
    const code = withProps(
      `n: { type: 'string', async options() { return (await fetch('https://api.example/list')).json(); } }`,
    );
    expect(await options(code, 'n', {}, { host })).toEqual(one('from afar'));
    expect(host.requests.map(({ url }) => url)).toEqual(['https://api.example/list']);
  });

  test('props: async options: an empty answer is an empty list, and options without a value cannot be chosen', async () => {
    expect(await options(withProps(`n: { type: 'string', options() {} }`), 'n')).toEqual({ options: [] });
    const code = withProps(
      `n: { type: 'string', options: () => [null, undefined, { label: 'x' }, { label: 'y', value: undefined }, { label: 5, value: null }, true] }`,
    );
    expect(await options(code, 'n')).toEqual({
      options: [
        { label: '5', value: null },
        { label: 'true', value: true },
      ],
    });
  });

  test('props: async options: labels and values below __lv or lv are taken from there', async () => {
    const code = withProps(
      `n: { type: 'string', options: () => [{ __lv: { label: 'A', value: 'a' } }, { lv: { label: 'B', value: 'b' } }] }`,
    );
    expect(await options(code, 'n')).toEqual({
      options: [
        { label: 'A', value: 'a' },
        { label: 'B', value: 'b' },
      ],
    });
  });
});

describe('props: propDefinition', () => {
  test('props: propDefinition: its options are called with the app as their this, with its account', async () => {
    const code = withProps(`hub, repo: { propDefinition: [hub, 'repo', { owner: 'o1' }] }`, '', HUB);
    expect(await options(code, 'repo', { page: 2 }, { props: { hub: auth('u1') } })).toEqual(one('o1 2 by u1 u1'));
  });

  test('props: propDefinition: inputValues as an object are given to the options method', async () => {
    const code = withProps(`hub, all: { propDefinition: [hub, 'all', { owner: 'o1', page: 9 }] }`, '', HUB);
    const {
      options: [first],
    } = (await options(code, 'all')) as { options: [{ value: string }] };
    expect(JSON.parse(first.value)).toEqual({ owner: 'o1', page: 0, prevContext: {} });
  });

  test('props: propDefinition: inputValues as a function are given the configured props', async () => {
    const code = withProps(
      `hub, owner: 'string', repo: { propDefinition: [hub, 'repo', ({ owner, hub }) => ({ owner: owner + '/' + hub.who() })] }`,
      '',
      HUB,
    );
    const props = { hub: auth('u1'), owner: value('me') };
    expect(await options(code, 'repo', {}, { props })).toEqual(one('me/by u1 0 by u1 u1'));
  });

  test('props: propDefinition: properties of the prop itself override those of the app', async () => {
    const code = withProps(
      `hub, name: 'string', branch: { propDefinition: [hub, 'branch'], options() { return [this.name, this.hub.who()]; } }, plain: { propDefinition: [hub, 'branch'] }`,
      '',
      HUB,
    );
    const props = { hub: auth('u1'), name: value('me') };
    expect(await options(code, 'branch', {}, { props })).toMatchObject({
      options: [{ value: 'me' }, { value: 'by u1' }],
    });
    expect(await options(code, 'plain')).toMatchObject({ options: [{ value: 'main' }, { value: 'dev' }] });
  });

  test('props: propDefinition: with several props of one app, the one with an account is asked', async () => {
    const code = withProps(`a: hub, b: hub, repo: { propDefinition: [hub, 'repo'] }`, '', HUB);
    expect(await options(code, 'repo', {}, { props: { b: auth('u2') } })).toEqual(one(' 0 by u2 u2'));
  });

  test('props: propDefinition: an app that was extended for the component is still the same app', async () => {
    const code = withProps(`hub: { ...hub, label: 'Mine' }, repo: { propDefinition: [hub, 'repo'] }`, '', HUB);
    expect(await options(code, 'repo', {}, { props: { hub: auth('u3') } })).toEqual(one(' 0 by u3 u3'));
  });
});

describe('failures while options are computed', () => {
  const asked = (prop: string) => ({ kind: 'options', prop, page: 0 }) as const;

  test('an error of the method is the error of the run, with its line', async () => {
    const code = withProps(`n: { type: 'string',\n async options() { throw new RangeError('no such city'); } }`);
    expect(await fault(code, asked('n'))).toMatchObject({
      code: 'COMPONENT_ERROR',
      message: 'RangeError: no such city',
      stack: expect.stringContaining('component.js:3'),
    });
  });

  test('a prop without options and one that does not exist are named', async () => {
    const code = withProps(`n: 'string'`);
    expect((await fault(code, asked('n'))).message).toBe("TypeError: The prop 'n' has no options");
    expect((await fault(code, asked('m'))).message).toBe("TypeError: The component has no prop 'm'");
    expect((await fault(code, asked('toString'))).message).toBe("TypeError: The component has no prop 'toString'");
  });

  test('answers that are not options say so', async () => {
    const code = (answer: string) => withProps(`n: { type: 'string', options() { return ${answer}; } }`);
    const messageOf = async (answer: string) => (await fault(code(answer), asked('n'))).message;
    expect(await messageOf(`'abc'`)).toContain(`must be a list, or { options, context }, not a string`);
    expect(await messageOf(`[{ id: 1, title: 'x' }]`)).toContain('not an object with id, title');
    expect(await messageOf(`[() => 1]`)).toContain('not a function');
    expect(await messageOf(`[[1]]`)).toContain('not a list');
    expect(await messageOf(`[1n]`)).toContain('cannot be turned into JSON');
    expect(await messageOf(`{ options: [], context: 1n }`)).toContain('cannot be turned into JSON');
  });

  test('more than a megabyte of options is refused', async () => {
    const code = withProps(
      `n: { type: 'string', options: () => Array.from({ length: 20_000 }, (_, i) => ({ label: 'l' + i, value: 'x'.repeat(60) })) }`,
    );
    expect(await fault(code, asked('n'))).toMatchObject({
      code: 'OUTPUT_LIMIT',
      message: 'The options of a prop have 1 788 903 bytes of JSON; the limit maxPropOptionsBytes is 1 048 576 bytes',
      limit: { name: 'maxPropOptionsBytes', value: 1_048_576, used: 1_788_903 },
    });
  });

  test('nothing can be emitted, stored or answered, and $.service.db can be read', async () => {
    const code = (call: string) =>
      withProps(
        `db: '$.service.db', http: '$.interface.http', n: { type: 'string', async options() { ${call} return [this.db.get('k')]; } }`,
      );
    const props: Record<string, RunProp> = {
      db: { kind: 'db' },
      http: { kind: 'http', endpoint: 'https://e.example' },
    };
    const host = recordingHost({ stored: { k: 'kept' } });
    expect(await options(code(''), 'n', {}, { props, host })).toEqual(one('kept'));
    for (const call of [`this.$emit({});`, `this.db.set('k', 1);`, `await this.http.respond({ status: 200 });`])
      expect((await fault(code(call), asked('n'), { props, host })).message).toMatch(
        /cannot be called while the options of a prop are computed: only run, hooks and their methods can/,
      );
    expect([host.events, host.writes, host.responses]).toEqual([[], [], []]);
  });
});
