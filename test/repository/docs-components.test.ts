import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUILTIN_NAMES } from '../../sandbox-runtime/src/guest/builtin-names.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

const PAGE = await readFile(new URL('../../docs/components.md', import.meta.url), 'utf8');

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

/** The names in backticks of the paragraph that begins so. */
function namesAfter(beginning: string): string[] {
  const paragraph = PAGE.split(beginning)[1]?.split(/\n\n|\.\s/)[0] ?? '';
  return [...paragraph.matchAll(/`([\w./]+)`/g)].map(([, name = '']) => name);
}

/** Runs a function body in a deployed component, and returns its result. */
async function evaluate(body: string, imports = ''): Promise<unknown> {
  const code = `${imports}\nexport default { name: 'Probe', version: '1', async run() { this.$emit(await (async () => { ${body} })()); } };`;
  const { id } = await hw.deploy(code);
  await hw.api('POST', `/sources/${id}/run`);
  const [first] = await hw.untilEvents(id, 1);
  return first?.event;
}

test('the listed globals are there, and the excluded ones are not', async () => {
  const there = namesAfter('Globals beyond the language: ');
  const absent = namesAfter('with everything of the language except ');
  expect([there.length > 20, absent.length]).toEqual([true, 3]);
  const missing = await evaluate(`return ${JSON.stringify(there)}.filter((name) => globalThis[name] === undefined)`);
  const present = await evaluate(`return ${JSON.stringify(absent)}.filter((name) => globalThis[name] !== undefined)`);
  expect([missing, present]).toEqual([[], []]);
});

test('no global is there that is not listed', async () => {
  const listed = new Set(namesAfter('Globals beyond the language: '));
  const names = (await evaluate('return Object.getOwnPropertyNames(globalThis)')) as string[];
  // A new context has the globals of the language and nothing of a platform.
  const ofLanguage = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[]);
  const unlisted = names.filter((name) => !listed.has(name) && !ofLanguage.has(name) && !name.startsWith('__'));
  expect(unlisted).toEqual([]);
});

test('the listed modules can be imported with the listed exports, and others are refused', async () => {
  const modules = namesAfter('Modules of Node, with or without `node:`: ');
  expect(new Set(modules)).toEqual(new Set(BUILTIN_NAMES));
  const imports = modules.map((name, i) => `import * as m${i} from '${i % 2 ? 'node:' : ''}${name}';`).join('\n');
  const list = modules.map((_, i) => `m${i}`).join(', ');
  expect(await evaluate(`return [${list}].map((module) => typeof module)`, imports)).toEqual(
    modules.map(() => 'object'),
  );
  for (const name of ['crypto', 'util']) {
    const listed = namesAfter(`- \`${name}\`: `);
    const missing = `return ${JSON.stringify(listed)}.filter((name) => module[name] === undefined)`;
    expect({ name, missing: await evaluate(missing, `import module from '${name}';`) }).toEqual({ name, missing: [] });
  }
  for (const name of ['node:sqlite', './other.js', 'https://example.com/x.js']) {
    await expect(evaluate('return 1', `import '${name}';`)).rejects.toThrow(/Cannot resolve/);
  }
});

test('the component of the page works', async () => {
  const code = /```js\n(.*?)```/s.exec(PAGE)?.[1] ?? '';
  const { id, endpoint } = await hw.deploy(code);
  for (const order of ['a', 'b', 'a']) {
    const body = JSON.stringify({ id: order });
    await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await hw.untilIdle();
  }
  const events = await hw.untilEvents(id, 2);
  expect(events.map(({ event }) => event)).toEqual([
    { count: 1, currency: 'EUR', order: { id: 'a' } },
    { count: 2, currency: 'EUR', order: { id: 'b' } },
  ]);
});

test('features that the page calls not yet possible are refused with a reason', async () => {
  const hooked = `export default { name: 'A', version: '1', props: { hook: { type: '$.interface.apphook' } }, run() {} };`;
  await expect(hw.deploy(hooked)).rejects.toThrow(/not available/);
  const action = `export default { name: 'A', version: '1', type: 'action', run() {} };`;
  await expect(hw.deploy(action)).rejects.toThrow(/only sources can be deployed/);
});
