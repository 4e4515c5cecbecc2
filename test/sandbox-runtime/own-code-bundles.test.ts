import { readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundleOwnCode, type OwnCode } from '../../sandbox-runtime/src/starter/bundle-own-code.ts';
import { makeDataDir } from '../support/run-folder.ts';

let main: string;
let part: string;
let code: OwnCode;
let kept: string;

beforeEach(async () => {
  const folder = makeDataDir();
  main = path.join(folder, 'main.ts');
  part = path.join(folder, 'part.ts');
  const name = path.basename(folder);
  code = { name, main: pathToFileURL(main), options: { format: 'esm' } };
  kept = path.join(getCompileCacheDir() ?? '', `headwater-${name}.json`);
  await writeLongAgo(main, "import { part } from './part.ts';\nconsole.log(part);");
  await writeLongAgo(part, "export const part = 'as it was';");
});
afterEach(() => rm(kept, { force: true }));

async function writeLongAgo(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await utimes(file, 1e9, 1e9);
}

/** So that a bundle that was kept can be told from one that was made. */
async function markKept(): Promise<void> {
  const text = await readFile(kept, 'utf8');
  await writeFile(kept, text.replace('as it was', 'as it was kept'));
}

test('a bundle is made once, and then comes from the compile cache of Node', async () => {
  expect(await bundleOwnCode(code)).toContain('as it was');
  await markKept();
  expect(await bundleOwnCode(code)).toContain('as it was kept');
});

test.each<[string, () => Promise<void>]>([
  ['one of its files has changed', () => writeLongAgo(part, "export const part = 'as it was'; // A word more.")],
  ['one of its files is gone', () => rm(part).then(() => writeLongAgo(main, "console.log('as it was');"))],
  ['it was cut short', () => truncate(kept, 100)],
])('is made anew when %s', async (_when, change) => {
  await bundleOwnCode(code);
  await markKept();
  await change();
  expect(await bundleOwnCode(code)).not.toContain('kept');
});

test('is made anew with other options, and for what plugins put into it', async () => {
  await bundleOwnCode(code);
  await markKept();
  expect(await bundleOwnCode({ ...code, options: { format: 'iife' } })).not.toContain('kept');
  await markKept();
  expect(await bundleOwnCode({ ...code, madeOf: 'another' })).not.toContain('kept');
});

test('is not kept when a file was written while it was made', async () => {
  const soon = new Date(Date.now() + 3_600_000);
  await utimes(part, soon, soon);
  await bundleOwnCode(code);
  await expect(readFile(kept)).rejects.toThrow('ENOENT');
});
