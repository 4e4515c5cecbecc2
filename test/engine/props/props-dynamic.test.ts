import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

/** Has one prop for each name in `fields`, and more besides. */
const FORM = `export default {
  name: 'Form', version: '1',
  props: {
    fields: { type: 'string[]', reloadProps: true },
    extra: { type: 'string', optional: true, hidden: true },
    token: { type: 'string', secret: true, optional: true },
  },
  additionalProps(previousPropDefs) {
    if (this.fields.includes('refused')) {
      const error = new Error('No field is called refused'); error.name = 'ConfigurationError'; throw error;
    }
    if (this.fields.includes('broken')) throw new Error('cannot with ' + this.token);
    if (this.fields.includes('odd')) return { odd: { type: 'no-such-type' } };
    const props = {};
    for (const name of this.fields) props[name] = {
      type: name.startsWith('n') ? 'integer' : 'string', label: this.titleOf(name), secret: name === 'password',
      description: 'before: ' + Object.keys(previousPropDefs).join(),
      ...(name === 'choice' ? { options: async ({ page }) => ['option ' + page + ' of ' + this.fields.length] } : {}),
    };
    if (this.fields.includes('shown')) props.extra = { type: 'string', label: 'Shown' };
    return props;
  },
  methods: { titleOf: (name) => name.toUpperCase() },
  run() { this.$emit({ title: this.title, n: this.n, extra: this.extra, password: this.password?.length }); },
};`;

let componentId: string;
beforeAll(async () => {
  const saved = await hw.api('POST', '/components', { component_code: FORM });
  if (saved.status !== 200) throw new Error(saved.text);
  componentId = saved.data.id;
});

const ask = (fields: string[], more: object = {}) =>
  hw.api('POST', `/components/${componentId}/props`, { configured_props: { fields }, ...more });

interface Shown {
  name: string;
  [field: string]: unknown;
}

async function eventOf(id: string, count = 1): Promise<Record<string, unknown>> {
  await hw.api('POST', `/sources/${id}/run`);
  return (await hw.untilEvents(id, count)).at(-1)?.event as Record<string, unknown>;
}

const deployWith = (values: object, more: object = {}) =>
  hw.api('POST', '/sources', { component_id: componentId, configured_props: values, ...more });

test('reloadProps: additionalProps is run with this as in run, and its definitions are answered', async () => {
  const { data } = await ask(['title', 'n']);
  const { id, configurable_props: props } = data.dynamic_props as { id: string; configurable_props: Shown[] };
  expect(id).toMatch(/^dyp_/);
  expect(props).toMatchObject([
    { name: 'title', type: 'string', label: 'TITLE', description: 'before: fields,extra,token' },
    { name: 'n', type: 'integer', label: 'N' },
  ]);
});

test('additionalProps: previousPropDefs is props merged with the previous result, which the new one replaces', async () => {
  const first = await ask(['title']);
  const second = await ask(['n'], { dynamic_props_id: first.data.dynamic_props.id });
  const [prop, ...others] = second.data.dynamic_props.configurable_props as Shown[];
  expect(prop).toMatchObject({ name: 'n', description: 'before: fields,extra,token,title' });
  expect(others).toEqual([]);
});

test('reloadProps: a name that neither the component nor its answers have is refused with the nearest', async () => {
  const given = (values: object, more: object = {}) =>
    ask(['title', 'n'], { configured_props: { fields: ['title'], ...values }, ...more });
  const wrong = await given({ titl: 'a', token: 'secret-value' });
  expect([wrong.status, JSON.parse(wrong.text).errors]).toEqual([
    400,
    [{ path: 'configured_props.titl', message: 'There is no such prop: did you mean title?' }],
  ]);
  // Props of this answer, of the one before, and taken away.
  expect((await given({ title: 'a', gone: null })).status).toBe(200);
  const before = (await ask(['n'])).data.dynamic_props.id as string;
  expect((await given({ n: 5 }, { dynamic_props_id: before })).status).toBe(200);
  expect((await given({ n: 5 })).status).toBe(400);
});

test('configure: names are judged once it is said which dynamic props there are', async () => {
  const { data } = await ask(['title', 'choice']);
  const choices = (values: object, more: object = {}) =>
    hw.api('POST', `/components/${componentId}/configure`, {
      prop_name: 'choice',
      configured_props: { fields: ['choice'], ...values },
      dynamic_props_id: data.dynamic_props.id,
      ...more,
    });
  expect((await choices({ title: 'a' })).status).toBe(200);
  const wrong = await choices({ tittle: 'a' });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('did you mean title?')]);
});

test('additionalProps: a source is deployed with the definitions, which are checked, kept and shown', async () => {
  const { data } = await ask(['title', 'n', 'shown']);
  const dynamicPropsId = data.dynamic_props.id as string;
  const refused = await deployWith({ fields: ['title', 'n', 'shown'], n: 'x' }, { dynamic_props_id: dynamicPropsId });
  expect(refused.status).toBe(400);
  expect(JSON.parse(refused.text).errors.map(({ path }: { path: string }) => path)).toEqual([
    'configured_props.extra',
    'configured_props.title',
    'configured_props.n',
    'configured_props.shown',
  ]);
  const values = { fields: ['title', 'n', 'shown'], title: 'T', n: 3, shown: 'x', extra: 'now shown' };
  const made = await deployWith(values, { dynamic_props_id: dynamicPropsId });
  expect(made.data.configured_props).toEqual(values);
  const shown = (await hw.api('GET', `/sources/${made.data.id}`)).data.configurable_props as Shown[];
  expect(shown.map(({ name, label }) => [name, label])).toEqual([
    ['fields', undefined],
    ['extra', 'Shown'],
    ['token', undefined],
    ['title', 'TITLE'],
    ['n', 'N'],
    ['shown', 'SHOWN'],
  ]);
  expect(await eventOf(made.data.id)).toEqual({ title: 'T', n: 3, extra: 'now shown' });
});

test('additionalProps: a source that is deployed without asking first gets the same props', async () => {
  const unknown = await deployWith({ fields: ['title'], title: 'T', n: 3 });
  expect(JSON.parse(unknown.text).errors).toMatchObject([{ path: 'configured_props.n' }]);
  const made = await deployWith({ fields: ['title'], title: 'T' });
  expect(made.data.configured_props).toEqual({ fields: ['title'], title: 'T' });
  expect(await eventOf(made.data.id)).toEqual({ title: 'T' });
  const missing = await deployWith({ fields: ['title'] });
  expect(JSON.parse(missing.text).errors).toEqual([{ path: 'configured_props.title', message: 'A value is required' }]);
});

test('additionalProps: an update keeps the definitions until a reloading prop or the code changes', async () => {
  const { id } = (await deployWith({ fields: ['title'], title: 'T' })).data as { id: string };
  const names = async () =>
    ((await hw.api('GET', `/sources/${id}`)).data.configurable_props as Shown[]).map(({ name }) => name).slice(3);
  expect((await hw.api('PUT', `/sources/${id}`, { configured_props: { title: 'U' } })).status).toBe(200);
  expect([await names(), await eventOf(id)]).toEqual([['title'], { title: 'U' }]);
  const changed = await hw.api('PUT', `/sources/${id}`, { configured_props: { fields: ['n'], n: 1 } });
  expect(changed.data.configured_props).toEqual({ fields: ['n'], n: 1 });
  expect([await names(), await eventOf(id, 2)]).toEqual([['n'], { n: 1 }]);
  const { data } = await ask(['title', 'n'], { source_id: id });
  const named = await hw.api('PUT', `/sources/${id}`, {
    dynamic_props_id: data.dynamic_props.id,
    configured_props: { title: 'V' },
  });
  expect(named.data.configured_props).toEqual({ fields: ['n'], n: 1, title: 'V' });
  const plain = `export default { name: 'Plain', version: '2', props: { fields: { type: 'string[]' } }, run() { this.$emit(this.n ?? null); } };`;
  const without = await hw.api('PUT', `/sources/${id}`, { component_code: plain });
  expect(without.data.configured_props).toEqual({ fields: ['n'] });
  expect(await names()).toEqual([]);
});

test('additionalProps: a dynamic prop’s own options are run with it', async () => {
  const { data } = await ask(['choice', 'n']);
  const { data: answered, text } = await hw.api('POST', `/components/${componentId}/configure`, {
    prop_name: 'choice',
    page: 2,
    dynamic_props_id: data.dynamic_props.id,
    configured_props: { fields: ['choice', 'n'] },
  });
  expect({ text, options: answered?.options }).toMatchObject({
    options: [{ label: 'option 2 of 2', value: 'option 2 of 2' }],
  });
});

test('additionalProps: a dynamic secret is sealed, never shown, kept when absent and removed by null', async () => {
  const { id } = (await deployWith({ fields: ['password'], password: 'correct horse' })).data as { id: string };
  expect((await hw.api('GET', `/sources/${id}`)).text).not.toContain('correct horse');
  expect(await eventOf(id)).toEqual({ password: 13 });
  const kept = await hw.api('PUT', `/sources/${id}`, {
    configured_props: { fields: ['password', 'title'], title: 'T' },
  });
  expect(kept.status).toBe(200);
  expect(await eventOf(id, 2)).toEqual({ title: 'T', password: 13 });
  const removed = await hw.api('PUT', `/sources/${id}`, { configured_props: { password: null } });
  expect(JSON.parse(removed.text).errors).toEqual([
    { path: 'configured_props.password', message: 'A value is required' },
  ]);
  const { text } = await ask(['broken'], {
    source_id: id,
    configured_props: { fields: ['broken'], token: 'a-long-token' },
  });
  expect(JSON.parse(text).detail).toBe('additionalProps failed: cannot with [secret:token]');
});

test('errors: a ConfigurationError of additionalProps reaches the deployer, and no source is left', async () => {
  const asked = await ask(['refused']);
  expect([asked.status, JSON.parse(asked.text).detail]).toEqual([400, 'No field is called refused']);
  const before = (await hw.api('GET', '/sources', { limit: 100 })).data.length;
  const deployed = await deployWith({ fields: ['refused'] });
  expect([deployed.status, JSON.parse(deployed.text).detail]).toEqual([400, 'No field is called refused']);
  expect((await hw.api('GET', '/sources', { limit: 100 })).data).toHaveLength(before);
  const odd = await ask(['odd']);
  expect(odd.status).toBe(422);
  expect(JSON.parse(odd.text).detail).toContain('no-such-type');
});

test('dynamic props: an unknown id, or one of another account or other code, is refused by name', async () => {
  const { data } = await ask(['title']);
  const { id } = data.dynamic_props as { id: string };
  const made = await hw.admin('POST', '/accounts', { name: 'Other' });
  const other = hw.as(made.data.api_key as string);
  const plain = `export default { name: 'Plain', version: '1', run() {} };`;
  const answers = [
    await deployWith({ fields: [] }, { dynamic_props_id: 'dyp_none' }),
    await other('POST', '/sources', { component_code: FORM, dynamic_props_id: id }),
    await hw.api('POST', '/sources', { component_code: plain, dynamic_props_id: id }),
  ];
  for (const { status, text } of answers)
    expect([status, JSON.parse(text).errors[0].path]).toEqual([400, 'dynamic_props_id']);
  const same = await hw.api('POST', '/sources', {
    component_code: FORM,
    dynamic_props_id: id,
    configured_props: { fields: [], title: 'T' },
  });
  expect(same.data.configured_props).toEqual({ fields: [], title: 'T' });
});

test('dynamic props: a component without additionalProps has none', async () => {
  expect((await hw.api('GET', `/components/${componentId}`)).data.has_additional_props).toBe(true);
  const plain = await hw.api('POST', '/components', {
    component_code: `export default { name: 'Plain', version: '1', run() {} };`,
  });
  expect(plain.data.has_additional_props).toBe(false);
  const { status, text } = await hw.api('POST', `/components/${plain.data.id}/props`, {});
  expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringContaining('additionalProps')]);
});
