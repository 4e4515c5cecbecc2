import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { bundle, sandboxForFile } from '../../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

const minimal = (fields: string) => `export default { name: 'Rows', version: '1', run() {}, ${fields} };`;

async function save(fields: string) {
  const { status, data, text } = await hw.api('POST', '/components', { component_code: minimal(fields) });
  if (status !== 200) throw new Error(text);
  return data;
}

async function describeComponent(fields: string) {
  const outcome = await sandbox.get().describe('o_test', await bundle(minimal(fields)));
  if (!outcome.ok) throw new Error(outcome.errors.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return outcome.description;
}

describe('component', () => {
  test('component: methods are on this in run, hooks and other methods', async () => {
    const { id } = await hw.deploy(`export default { name: 'Methods', version: '1',
      methods: { word() { return 'word'; }, two(where) { return [where, this.word()]; } },
      hooks: { deploy() { this.$emit(this.two('deploy')); } },
      run() { this.$emit(this.two('run')); } };`);
    await hw.api('POST', `/sources/${id}/run`);
    expect((await hw.untilEvents(id, 2)).map(({ event }) => event)).toEqual([
      ['deploy', 'word'],
      ['run', 'word'],
    ]);
  });
});

describe('mistakes in a component', () => {
  test.each([
    ['hooks: { deploy: 5 }', 'hooks.deploy: must be a method'],
    ["props: { a: { label: 'A' } }", 'props.a.type: type is missing'],
    ["dedupe: 'all'", 'dedupe must be one of unique, greatest, last'],
  ])('is told with its place: %s', async (fields, detail) => {
    const { status, text } = await hw.api('POST', '/components', { component_code: minimal(fields) });
    expect([status, (JSON.parse(text) as { error: string }).error]).toEqual([400, detail]);
  });
});

describe('action', () => {
  test('an action has no lifecycle hooks', async () => {
    await expect(save("type: 'action', hooks: { deploy() {} }")).rejects.toThrow('an action has no lifecycle hooks');
    expect((await describeComponent('hooks: { deploy() {} }')).hooks).toEqual(['deploy']);
  });

  test('an action deduplicates nothing', async () => {
    expect((await describeComponent("type: 'action', dedupe: 'unique'")).dedupe).toBeUndefined();
    expect((await describeComponent("dedupe: 'unique'")).dedupe).toBe('unique');
  });

  test('nothing comes of the interfaces of an action', async () => {
    const { id } = await save("type: 'action', props: { http: '$.interface.http', timer: '$.interface.timer' }");
    const { status, text } = await hw.api('POST', '/sources', { component_id: id });
    expect([status, text]).toEqual([400, expect.stringContaining('only sources can be deployed')]);
  });
});

describe('source', () => {
  test('source: its id begins with dc_ and is in the list of sources', async () => {
    const { id } = await hw.deploy(minimal(''));
    expect(id).toMatch(/^dc_/);
    const { data } = await hw.api('GET', '/users/me/sources', { limit: 100 });
    expect((data as { id: string }[]).map((source) => source.id)).toContain(id);
  });

  test('a saved component has an id and cannot be invoked', async () => {
    const { id } = await save("props: { http: '$.interface.http' }");
    expect(id).toMatch(/^sc_/);
    expect((await hw.api('POST', `/sources/${id}/run`)).status).toBe(404);
    expect((await hw.api('GET', `/sources/${id}`)).status).toBe(404);
  });

  test('a deployed component has an id of its own and is active or not', async () => {
    const { id: componentId } = await save("props: { http: '$.interface.http' }");
    const made = [];
    for (let i = 0; i < 2; i += 1) made.push((await hw.api('POST', '/sources', { component_id: componentId })).data);
    const [first, second] = made;
    expect([first.active, second.active, first.component_id]).toEqual([true, true, componentId]);
    expect(first.id).not.toBe(second.id);
    const { data: stopped } = await hw.api('PUT', `/sources/${first.id}`, { active: false });
    expect([stopped.id, stopped.active]).toEqual([first.id, false]);
    expect((await hw.api('GET', `/sources/${second.id}`)).data.active).toBe(true);
  });

  test('user input: a prop is readable in run, hooks and methods', async () => {
    const code = `export default { name: 'Input', version: '1', props: { word: 'string', count: 'integer' },
      methods: { both() { return [this.word, this.count]; } },
      hooks: { deploy() { this.$emit(['hook', this.word, ...this.both()]); } },
      run() { this.$emit(['run', this.word, ...this.both()]); } };`;
    const { id } = await hw.deploy(code, { word: 'a', count: 2 });
    await hw.api('POST', `/sources/${id}/run`);
    expect((await hw.untilEvents(id, 2)).map(({ event }) => event)).toEqual([
      ['hook', 'a', 'a', 2],
      ['run', 'a', 'a', 2],
    ]);
    await hw.api('PUT', `/sources/${id}`, { configured_props: { word: 'b' } });
    await hw.api('POST', `/sources/${id}/run`);
    expect((await hw.untilEvents(id, 3)).at(-1)?.event).toEqual(['run', 'b', 'b', 2]);
  });
});

describe('timer', () => {
  test('timer: this.<name> is what was configured, or the default', async () => {
    const code = `export default { name: 'Timer', version: '1',
      props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } } },
      hooks: { activate() { this.$emit(this.timer); } }, run() {} };`;
    const cron = { cron: '0 9 * * 1-5', timezone: 'Europe/Paris' };
    for (const [configured, seen] of [
      [{}, { intervalSeconds: 3600 }],
      [{ timer: { intervalSeconds: 60 } }, { intervalSeconds: 60 }],
      [{ timer: cron }, cron],
    ] as const) {
      const { id } = await hw.deploy(code, configured);
      expect((await hw.untilEvents(id, 1))[0]?.event).toEqual(seen);
    }
  });

  test('timer: static stands for default, as public components have it', async () => {
    const { id } = await hw.deploy(`export default { name: 'Timer', version: '1',
      props: { timer: { type: '$.interface.timer', static: { intervalSeconds: 900 } } },
      hooks: { activate() { this.$emit(this.timer); } }, run() {} };`);
    expect((await hw.untilEvents(id, 1))[0]?.event).toEqual({ intervalSeconds: 900 });
  });
});

describe('$emit', () => {
  const emitting = (call: string, dedupe = '') => minimal(`${dedupe} hooks: { deploy() { this.$emit(${call}); } }`);

  test('$emit: the summary is shown in the list of events', async () => {
    const { id } = await hw.deploy(emitting("{ n: 1 }, { summary: 'One more' }"));
    expect((await hw.untilEvents(id, 1))[0]?.metadata.summary).toBe('One more');
  });

  test('$emit: the event is any JSON, and may be left out', async () => {
    const values = [{ a: [1, { b: null }] }, 'text', 0, false, null];
    const calls = [...values.map((value) => JSON.stringify(value)), '']
      .map((value) => `this.$emit(${value});`)
      .join(' ');
    const { id } = await hw.deploy(minimal(`hooks: { deploy() { ${calls} } }`));
    expect((await hw.untilEvents(id, 6)).map(({ event }) => event)).toEqual([...values, null]);
    await expect(hw.deploy(emitting('() => 1'))).rejects.toThrow('cannot be turned into JSON');
  });

  test('$emit: an id is text or a number, and each strategy requires one', async () => {
    for (const emitted of ["'a1'", '17']) {
      const { id } = await hw.deploy(emitting(`0, { id: ${emitted} }`));
      expect(String((await hw.untilEvents(id, 1))[0]?.metadata.id)).toBe(emitted.replaceAll("'", ''));
    }
    for (const strategy of ['unique', 'greatest', 'last']) {
      await expect(hw.deploy(emitting('0', `dedupe: '${strategy}',`))).rejects.toThrow('$emit needs an id');
    }
    await expect(hw.deploy(emitting('0, { id: {} }'))).rejects.toThrow('id must be a string or a number');
  });

  test('dedupe: greatest takes numeric ids only', async () => {
    await expect(hw.deploy(emitting("0, { id: 'a1' }", "dedupe: 'greatest',"))).rejects.toThrow('id must be numeric');
    const { id } = await hw.deploy(emitting("0, { id: '41' }", "dedupe: 'greatest',"));
    await hw.untilEvents(id, 1);
  });
});

describe('props', () => {
  test('props: every type and its array form is taken in sources and in actions, and no other', async () => {
    const lists = ['boolean', 'integer', 'string'].flatMap((type) => [type, `${type}[]`]);
    const types = [
      ...lists,
      'object',
      'any',
      'app',
      '$.interface.http',
      '$.interface.timer',
      '$.service.db',
      'data_store',
      'sql',
    ];
    const props = types.map((type, at) => `p${at}: { type: '${type}', app: 'some_app' }`).join(', ');
    for (const kind of ['source', 'action']) {
      const saved = await save(`type: '${kind}', props: { ${props} }`);
      expect((saved.configurable_props as { type: string }[]).map(({ type }) => type)).toEqual(types);
    }
    for (const type of ['app[]', 'object[]', '$.service.db[]', '$.interface.http[]', 'text']) {
      await expect(save(`props: { wrong: { type: '${type}' } }`)).rejects.toThrow('is not a prop type');
    }
  });

  test('props: propDefinition: the app and the name are required', async () => {
    const app = `{ type: 'app', app: 'some_app', propDefinitions: { a: { type: 'string' } } }`;
    expect((await save(`props: { a: { propDefinition: [${app}, 'a'] } }`)).configurable_props[0].type).toBe('string');
    for (const wrong of ['[]', `[${app}]`, "['a']"])
      await expect(save(`props: { a: { propDefinition: ${wrong} } }`)).rejects.toThrow(
        'an app, and the name of a prop',
      );
  });
});
