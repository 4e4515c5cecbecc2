import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DedupeStrategy, HookName, HttpEvent, TimerEvent } from '@headwater/shared';
import * as types from '@headwater/types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildKitForFile } from '../support/build-kit.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');

// Read by the compiler alone (`npm run check`): what the server gives is what the package says.
export const agreed: {
  httpEvent: (given: HttpEvent) => types.HttpEvent;
  timerEvent: (given: TimerEvent) => types.TimerEvent;
  dedupe: (given: DedupeStrategy) => types.DedupeStrategy;
  hook: (given: HookName) => keyof types.Hooks;
} = {
  httpEvent: (given) => given,
  timerEvent: (given) => given,
  dedupe: (given) => given,
  hook: (given) => given,
};

const kit = buildKitForFile();
let hw: Headwater;
let page: string;

beforeAll(async () => {
  hw = await sharedHeadwater();
  page = await readFile(path.join(ROOT, 'docs/typescript.md'), 'utf8');
});
afterAll(() => hw?.stop());

/** The examples of docs/typescript.md, with the fence that says their language. */
function examples(): { language: string; code: string }[] {
  return [...page.matchAll(/^```(ts|js)\n(.*?)^```/gms)].map(([, language = '', code = '']) => ({ language, code }));
}

/** Compiler output for a folder of files; its project extends the one of test/types. */
async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headwater-types-'));
  try {
    const own = path.join(ROOT, 'test/types');
    const project = { extends: path.join(own, 'tsconfig.json'), include: ['.', own] };
    const all = { ...files, 'tsconfig.json': JSON.stringify(project), 'package.json': '{"type":"module"}' };
    for (const [name, text] of Object.entries(all)) await writeFile(path.join(folder, name), text);
    const args = [TSC, '-p', folder, '--pretty', 'false'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return status === 0 ? '' : stdout || stderr || `The compiler ended with ${status}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('correct types compile and wrong ones do not: test/types, and the examples of the page', async () => {
  const found = examples();
  expect(found.map(({ language }) => language)).toEqual(['ts', 'ts', 'ts', 'js']);
  const files = Object.fromEntries(
    found.map(({ language, code }, at) => [
      `example-${at}.${language}`,
      code.includes('import') ? code : `${code}\nexport {};`,
    ]),
  );
  expect(await compile(files)).toBe('');
});

test('the compiler reads the files: a wrong one is reported with its line', async () => {
  const code = `import { defineSource } from '@headwater/types';
    defineSource({ name: 'A', version: '1', props: { n: { type: 'integer' } }, run() { this.n.trim(); } });`;
  expect(await compile({ 'wrong.ts': code })).toMatch(/wrong\.ts\(2,\d+\): error TS2339: Property 'trim'/);
});

test('a TypeScript component that imports @headwater/types is saved and runs', async () => {
  const [first] = examples();
  const { id, endpoint } = await hw.deploy(first?.code ?? '', { board: 'board-1' });
  const answers = [];
  for (const issue of ['a', 'b', 'a']) {
    const body = JSON.stringify({ id: issue });
    const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    answers.push(await answer.json());
    await hw.untilIdle();
  }
  expect(answers).toEqual([{ seen: 0 }, { seen: 1 }, { seen: 2 }]);
  const events = await hw.untilEvents(id, 2);
  expect(events.map(({ event, metadata }) => [event, metadata.summary])).toEqual([
    [{ body: { id: 'a' } }, 'On board-1'],
    [{ body: { id: 'b' } }, 'On board-1'],
  ]);
});

test('the copy that builds have is the package: the same names, doing the same', async () => {
  const code = `import type { DedupeStrategy, HookName, HttpEvent, TimerEvent } from '@headwater/shared';
import * as types from '@headwater/types'; export default types;`;
  const copy = (await kit.load(code)) as typeof types;
  expect(Object.keys(copy).sort()).toEqual(Object.keys(types).sort());
  for (const { defineAction, defineApp, defineSource, ConfigurationError } of [types, copy]) {
    const given = { name: 'x' } as never;
    expect([defineSource(given), defineAction(given), defineApp(given), defineApp()(given)]).toEqual([
      given,
      given,
      given,
      given,
    ]);
    const error = new ConfigurationError('why');
    expect([error instanceof Error, error.name, error.message]).toEqual([true, 'ConfigurationError', 'why']);
  }
});

test('no registry is asked for @headwater/types, in any version, beside packages and in JavaScript too', async () => {
  kit.registry.add({ name: 'plain', version: '1.0.0' });
  const code = (name: string) => `import { defineSource } from '${name}'; import plain from 'plain';
    const { defineApp } = require('@headwater/types');
    export default defineSource(defineApp()({ plain }));`;
  for (const name of ['@headwater/types', '@headwater/types@0.1.0', '@headwater/types@^9']) {
    expect(await kit.load(code(name))).toEqual({ plain: 'plain@1.0.0' });
  }
  expect(kit.registry.requests.filter((request) => JSON.stringify(request).includes('headwater'))).toEqual([]);
  const outcome = await kit.build(code('@headwater/types'));
  expect(outcome).toMatchObject({ ok: true, dependencies: { plain: '1.0.0' } });
});
