import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

const codeOf = (key: string, version: string, extra = '') =>
  `export default { name: 'Of ${key}', key: '${key}', version: '${version}', ${extra} run() { this.$emit('${version}'); } };`;

async function save(component_code: string) {
  const { status, data, text } = await hw.api('POST', '/components', { component_code });
  if (status !== 200) throw new Error(text);
  return data as { id: string; version: string; published_at: number | null };
}

const publish = (id: string) => hw.api('POST', `/components/${id}/publish`);

test('the same code of the same key and version is saved once, other code is another draft', async () => {
  const first = await save(codeOf('once', '1'));
  expect((await save(codeOf('once', '1'))).id).toBe(first.id);
  const other = await save(codeOf('once', '1', 'x: 1,'));
  expect(other.id).not.toBe(first.id);
  const { data } = await hw.api('GET', '/components', { key: 'once' });
  expect(data.map((entry: { id: string }) => entry.id)).toEqual([other.id, first.id]);
});

test('component: key names it within the account: the draft saved last, or the version published last, or the one asked for', async () => {
  const [one, two] = [await save(codeOf('named', '1')), await save(codeOf('named', '2'))];
  const got = async (version?: string) =>
    (await hw.api('GET', '/components/named', version === undefined ? {} : { version })).data?.id;
  expect(await got()).toBe(two.id);
  const published = await publish(one.id);
  expect(published.data.published_at).toBeGreaterThan(1_700_000_000);
  expect(await got()).toBe(one.id);
  expect([await got('1'), await got('2'), await got('3')]).toEqual([one.id, two.id, undefined]);
  await publish(two.id);
  expect(await got()).toBe(two.id);
  await hw.api('POST', '/components/named/unpublish', { version: '2' });
  expect(await got()).toBe(one.id);
});

test('a published version never changes, and drafts of it stay drafts', async () => {
  const first = await save(codeOf('fixed', '1.0.0'));
  const other = await save(codeOf('fixed', '1.0.0', 'x: 1,'));
  expect((await publish(first.id)).status).toBe(200);
  expect((await publish(first.id)).status).toBe(200);
  const refused = await publish(other.id);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('a version never changes')]);
  expect((await hw.api('GET', '/components/fixed')).data.id).toBe(first.id);
});

test('two that publish a version at the same time: one is first, and the other is told', async () => {
  const saved = await Promise.all([1, 2, 3, 4].map((x) => save(codeOf('raced', '1.0.0', `x: ${x},`))));
  const answers = await Promise.all(saved.map(({ id }) => publish(id)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
});

test('a component without a key is not published', async () => {
  const { id } = await save(`export default { name: 'Nameless', version: '1', run() {} };`);
  const refused = await publish(id);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('has no key')]);
});

test('components are listed in pages without their code, by type, name and state', async () => {
  const made = [];
  for (const version of ['1', '2', '3']) made.push(await save(codeOf('listed', version)));
  const action = await save(codeOf('listed', '4', "type: 'action',"));
  await publish(action.id);
  const ids = async (parameters: Record<string, unknown>) => {
    const { data, text } = await hw.api('GET', '/components', { q: 'LISTED', limit: 100, ...parameters });
    expect(data.every((entry: object) => !('code' in entry))).toBe(true);
    return { ids: data.map((entry: { id: string }) => entry.id), page: JSON.parse(text).page_info };
  };
  const sources = made.map(({ id }) => id).toReversed();
  expect((await ids({})).ids).toEqual([action.id, ...sources]);
  expect((await ids({ type: 'source' })).ids).toEqual(sources);
  expect((await ids({ published: true })).ids).toEqual([action.id]);
  const first = await ids({ type: 'source', limit: 2 });
  expect([first.ids, first.page.total_count]).toEqual([sources.slice(0, 2), 3]);
  expect((await ids({ type: 'source', limit: 2, after: first.page.end_cursor })).ids).toEqual(sources.slice(2));
});

test('a component is deleted unless sources use it', async () => {
  const saved = await save(codeOf('gone', '1'));
  const { data: source } = await hw.api('POST', '/sources', { component_id: saved.id });
  const refused = await hw.api('DELETE', `/components/${saved.id}`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('a source uses it')]);
  await hw.api('DELETE', `/sources/${source.id}`);
  expect((await hw.api('DELETE', '/components/gone')).status).toBe(204);
  expect((await hw.api('GET', `/components/${saved.id}`)).status).toBe(404);
  expect((await hw.api('GET', '/components/gone')).status).toBe(404);
  const kept = await hw.sql<{ code: string }[]>`select code from components where id = ${saved.id}`;
  expect(kept.map(({ code }) => code)).toEqual(['']);
  const again = await save(codeOf('gone', '1'));
  expect(again.id).not.toBe(saved.id);
  await hw.api('DELETE', `/components/${again.id}`);
  expect((await hw.sql`select from components where id = ${again.id}`).length).toBe(0);
});

test('a source is deployed by the key of a component and a version of it', async () => {
  const [one] = [await save(codeOf('deployed', '1')), await save(codeOf('deployed', '2'))];
  const emitted = async (parameters: Record<string, unknown>) => {
    const { data, text } = await hw.api('POST', '/sources', parameters);
    if (data === undefined) throw new Error(text);
    await hw.api('POST', `/sources/${data.id}/run`);
    return (await hw.untilEvents(data.id, 1))[0]?.event;
  };
  expect(await emitted({ component_key: 'deployed' })).toBe('2');
  expect(await emitted({ component_key: 'deployed', component_version: '1' })).toBe('1');
  await publish(one.id);
  expect(await emitted({ component_key: 'deployed' })).toBe('1');
  const missing = await hw.api('POST', '/sources', { component_key: 'deployed', component_version: '3' });
  expect([missing.status, missing.text]).toEqual([404, expect.stringContaining('deployed of version 3')]);
  const both = await hw.api('POST', '/sources', { component_key: 'deployed', component_id: one.id });
  expect([both.status, both.text]).toEqual([400, expect.stringContaining('give one of them')]);
});

test('a source is moved to another component by its key', async () => {
  await save(codeOf('moved', '7'));
  const { id } = await hw.deploy(codeOf('before', '1'));
  const { status } = await hw.api('PUT', `/sources/${id}`, { component_key: 'moved' });
  expect(status).toBe(200);
  await hw.api('POST', `/sources/${id}/run`);
  expect((await hw.untilEvents(id, 1))[0]?.event).toBe('7');
});
