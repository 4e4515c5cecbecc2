import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOpenEnvironment } from '../../../engine/src/environment/open-environment.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { echo, makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

const VALUE = 'value-that-nobody-else-sees';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const put = (name: string, value: unknown, more: object = {}) =>
  hw.api('PUT', `/environment_variables/${name}`, { value, ...more });

test('a variable is set, listed by name, changed and deleted, and its value never comes back', async () => {
  const made = await put('B_TOKEN', VALUE, { description: 'Of the shop' });
  expect(made).toMatchObject({ status: 200, data: { name: 'B_TOKEN', description: 'Of the shop' } });
  expect(Object.keys(made.data).toSorted()).toEqual(['created_at', 'description', 'name', 'updated_at']);
  await put('A_TOKEN', VALUE);
  const changed = await put('B_TOKEN', `${VALUE}-2`);
  expect(changed.data.description).toBe('Of the shop');
  expect((await put('B_TOKEN', `${VALUE}-2`, { description: '' })).data.description).toBeNull();
  const listed = await hw.api('GET', '/environment_variables');
  expect(listed.data.map(({ name }: { name: string }) => name)).toEqual(['A_TOKEN', 'B_TOKEN']);
  expect(listed.text + changed.text + (await hw.api('GET', '/environment_variables/B_TOKEN')).text).not.toContain(
    VALUE,
  );
  const rows = await hw.sql<{ value: string }[]>`
    select value from environment_variables where account_id = ${hw.accountId}`;
  for (const { value } of rows) expect(value).toMatch(/^v2\./);
  expect((await hw.api('DELETE', '/environment_variables/A_TOKEN')).status).toBe(204);
  expect((await hw.api('GET', '/environment_variables/A_TOKEN')).status).toBe(404);
  expect((await hw.api('DELETE', '/environment_variables/A_TOKEN')).status).toBe(404);
});

test('the list is read page by page, in both directions', async () => {
  const names = ['P1', 'P2', 'P3', 'P4', 'P5'];
  for (const name of names) await put(name, 'x');
  const page = async (parameters: object) => {
    const { text } = await hw.api('GET', '/environment_variables', { limit: 2, ...parameters });
    return JSON.parse(text) as { data: { name: string }[]; page_info: { end_cursor: string; start_cursor: string } };
  };
  const all = (await hw.api('GET', '/environment_variables', { limit: 100 })).data.map(
    ({ name }: { name: string }) => name,
  );
  const seen: string[] = [];
  let after: object = {};
  let last = await page(after);
  for (let turns = 0; last.data.length > 0 && turns < 10; turns++) {
    seen.push(...last.data.map(({ name }) => name));
    after = { after: last.page_info.end_cursor };
    last = await page(after);
  }
  expect(seen).toEqual(all);
  const second = await page({ after: (await page({})).page_info.end_cursor });
  const first = await page({ before: second.page_info.start_cursor });
  expect(first.data.map(({ name }) => name)).toEqual(all.slice(0, 2));
  expect((await hw.api('GET', '/environment_variables', { after: '??' })).status).toBe(400);
});

test.each(['1A', 'a-b', 'a.b', 'a b', 'é', 'A'.repeat(129)])('the name %j is refused', async (name) => {
  const refused = await put(encodeURIComponent(name), 'x');
  expect(refused.status).toBe(400);
  expect(problemsOf(refused)['name']).toContain('must be letters');
});

test.each(['_', '__proto__', 'constructor', 'a1', 'A'.repeat(128)])('the name %j is one', async (name) => {
  expect((await put(name, 'x')).status).toBe(200);
});

test('a value has at most 64 KB and is text', async () => {
  expect((await put('LONG', 'x'.repeat(LIMITS.maxEnvironmentValueBytes))).status).toBe(200);
  const value = LIMITS.maxEnvironmentValueBytes;
  const refused = await put('LONG', 'é'.repeat(value / 2 + 1));
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
    400,
    { limit: { name: 'maxEnvironmentValueBytes', value, used: value + 2 } },
  ]);
  expect((await put('LONG', 5)).status).toBe(400);
  expect((await put('LONG', undefined)).status).toBe(400);
  expect((await put('EMPTY', '')).status).toBe(200);
});

test('an account has as many as its limit says, and changing one is not making one', async () => {
  const { data } = await hw.api('GET', '/environment_variables', { limit: 1 });
  const [{ name }] = data;
  await hw.limit({ maxEnvironmentVariables: 1 });
  const refused = await put('ONE_MORE', 'x');
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('maxEnvironmentVariables')]);
  expect((await put(name, 'x')).status).toBe(200);
  await hw.limit({ maxEnvironmentVariables: null });
});

test('one that the current version of a workflow names is not deleted until another version is deployed', async () => {
  await put('USED', VALUE);
  const made = await makeWorkflow(hw, { steps: [echo('a', { token: '{{env.USED}}' })] });
  const refused = await hw.api('DELETE', '/environment_variables/USED');
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(made.id)]);
  await hw.api('PUT', `/workflows/${made.id}`, { steps: [] });
  expect((await hw.api('DELETE', '/environment_variables/USED')).status).toBe(204);
  const back = await hw.api('POST', `/workflows/${made.id}/deploy`, { deployment_id: made.deployment_id });
  expect([back.status, back.text]).toEqual([409, expect.stringContaining('USED')]);
});

test('a component sees no variable but through the props of a step', async () => {
  await put('HIDDEN', VALUE);
  const look = `JSON.stringify([typeof env, process.env, Object.keys(globalThis)])`;
  const source = await hw.deploy(
    `const found = ${look};
    export default { name: 'Looks', version: '1', props: { text: { type: 'string', optional: true, options() { return [found, ${look}, this.text]; } } },
      hooks: { deploy() { this.$emit(${look}); }, activate() { this.$emit(found); } },
      additionalProps() { return { seen: { type: 'string', optional: true, label: ${look} } }; },
      run() { this.$emit([found, ${look}, this.text]); } };`,
    { text: '{{env.HIDDEN}}' },
  );
  await hw.api('POST', `/sources/${source.id}/run`, {});
  const events = await hw.untilEvents(source.id, 3);
  const { data } = await hw.api('GET', `/sources/${source.id}`);
  const form = { prop_name: 'text', configured_props: { text: '{{env.HIDDEN}}' } };
  const options = await hw.api('POST', `/components/${data.component_id}/configure`, form);
  const props = await hw.api('POST', `/components/${data.component_id}/props`, {
    configured_props: form.configured_props,
  });
  expect([options.status, props.status]).toEqual([200, 200]);
  const seen = JSON.stringify(events) + options.text + props.text;
  expect(seen).toContain('{{env.HIDDEN}}');
  expect(seen).toContain('undefined');
  expect(seen).not.toContain(VALUE);
});

test('a step gets the value of now once this node has heard that it was changed', async () => {
  await put('CHANGING', 'one');
  let reads = 0;
  const sealer = { open: (_: string, sealed: string) => `${(reads += 1)} ${sealed.length > 0 ? 'opened' : ''}` };
  const environment = createOpenEnvironment({ sql: hw.sql, sealer });
  const open = async (names = ['CHANGING']) => ({ ...(await environment.open(hw.accountId, names)) });
  expect(await open()).toEqual({ CHANGING: '1 opened' });
  expect(await open(['CHANGING', 'NOBODY_HAS_THIS'])).toEqual({ CHANGING: '1 opened' });
  expect(await open()).toEqual({ CHANGING: '1 opened' });
  environment.forget(hw.accountId);
  expect(await open()).toEqual({ CHANGING: '2 opened' });
  environment.forgetAll();
  expect(await open(['CHANGING', '__proto__'])).toMatchObject({ CHANGING: '3 opened' });
  expect(await environment.open('o_another', ['CHANGING'])).toEqual({});
});

test('a value read during a change is not cached', async () => {
  await put('RACING', 'old');
  const environment = createOpenEnvironment({ sql: hw.sql, sealer: { open: (_, sealed) => sealed } });
  const reading = environment.open(hw.accountId, ['RACING']);
  environment.forget(hw.accountId);
  const [before] = [(await reading)['RACING']];
  await put('RACING', 'new');
  expect((await environment.open(hw.accountId, ['RACING']))['RACING']).not.toBe(before);
});

test('the cached bytes are bounded', async () => {
  const values = new Map<string, number>();
  const sealer = {
    open: (_: string, sealed: string) => {
      values.set(sealed, (values.get(sealed) ?? 0) + 1);
      return 'x'.repeat(LIMITS.maxCachedEnvironmentBytes / 4);
    },
  };
  for (const name of ['BIG1', 'BIG2', 'BIG3']) await put(name, 'x');
  const environment = createOpenEnvironment({ sql: hw.sql, sealer });
  for (const name of ['BIG1', 'BIG2', 'BIG3', 'BIG1']) await environment.open(hw.accountId, [name]);
  expect([...values.values()]).toEqual([2, 1, 1]);
});
