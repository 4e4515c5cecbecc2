import { expect, test } from 'vitest';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';

const world = cliWorld();

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

test('a list may be given with commas between, as at the terminal', async () => {
  const props = 'words: { type: "string[]" }, numbers: { type: "integer[]", optional: true }';
  await world.write('lists.mjs', `export default { name: "l", version: "1", props: { ${props} }, run() {} };`);
  const made = await world.user.json('deploy', 'lists.mjs', '--prop', 'words=a, 5', '--prop', 'numbers=1,2');
  expect(made.configured_props).toMatchObject({ words: ['a', '5'], numbers: [1, 2] });
  const changed = await world.user.json('update', made.id, '--prop', 'words=["x,y"]', '--prop', 'numbers=null');
  expect(changed.configured_props).toEqual({ words: ['x,y'] });
});

test('more events than a page holds are there in their order, and large ones whole', async () => {
  const code = `export default { name: "Many", version: "1", props: { http: "$.interface.http" },
    run(event) { for (let i = 0; i < event.body.count; i++) this.$emit({ i, text: "x".repeat(event.body.size) }); } };`;
  await world.write('many.mjs', code);
  const source = await world.user.json('deploy', 'many.mjs');
  const endpoint = source.configured_props.http.endpoint_url;
  await post(endpoint, { count: 90, size: 1 });
  await post(endpoint, { count: 90, size: 1 });
  await world.hw.untilIdle();
  // Together more than a page carries.
  for (let run = 0; run < 4; run++) {
    await post(endpoint, { count: 5, size: 900_000 });
    await world.hw.untilIdle();
  }
  const { stdout } = await world.user.hw(['events', 'many', '-n', '150', '--json']);
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const large = Array.from({ length: 4 }, () => range(0, 5)).flat();
  const expected = [...range(50, 90), ...range(0, 90), ...large];
  expect(records.map(({ event }) => event.i)).toEqual(expected);
  expect(records.slice(-20).map(({ event }) => event.text.length)).toEqual(large.map(() => 900_000));
});

test('a list is whole where its pages end early, as those of large sources do', async () => {
  const names = Array.from({ length: 8 }, (_, at) => `text${at}`);
  const props = names.map((name) => `${name}: { type: "string" }`).join(', ');
  const component_code = `export default { name: "Wide", version: "1", props: { ${props} }, run() {} };`;
  const configured_props = Object.fromEntries(names.map((name) => [name, 'x'.repeat(64_000)]));
  for (const name of ['wide-1', 'wide-2', 'wide-3', 'wide-4', 'wide-5']) {
    const made = await world.hw.api('POST', '/sources', { name, component_code, configured_props });
    expect(made.status).toBe(200);
  }
  expect((await world.hw.api('GET', '/sources', { limit: 100 })).data.length).toBeLessThan(5);
  const listed = (await world.user.json('list', 'sources')) as { name: string }[];
  expect(listed.filter(({ name }) => name.startsWith('wide-'))).toHaveLength(5);
});

test('a component published in the registry is there for all accounts, until it is taken back', async () => {
  await world.write('shared.mjs', ORDERS_SOURCE.replaceAll('"orders"', '"acme-shared-orders"'));
  expect(await world.user.hw(['publish', 'shared.mjs', '--registry'])).toMatchObject({ code: 3 });
  await world.hw.limit({ maxRegistryVersions: 5 });
  expect(await world.user.json('publish', 'shared.mjs', '--registry')).toMatchObject({ key: 'acme-shared-orders' });
  const keys = async () => (await world.user.json('list', 'registry')).map((one: { key: string }) => one.key);
  expect(await keys()).toContain('acme-shared-orders');
  await world.user.json('unpublish', 'acme-shared-orders@0.1.0', '--registry');
  expect(await keys()).not.toContain('acme-shared-orders');
});
