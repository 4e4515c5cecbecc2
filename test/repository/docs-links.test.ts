import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE_FOLDERS = [
  'api',
  'bench',
  'cli',
  'docs',
  'engine',
  'examples',
  'migrations',
  'sandbox-runtime',
  'shared',
  'test',
];

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}

async function documents(): Promise<string[]> {
  const top = (await readdir(ROOT)).filter((name) => name.endsWith('.md'));
  const inFolders = await Promise.all(['docs', 'bench'].map(filesUnder));
  return [...top, ...inFolders.flat().filter((name) => name.endsWith('.md'))];
}

test('every relative link of the documents leads somewhere', async () => {
  const broken: string[] = [];
  for (const document of await documents()) {
    const text = await readFile(path.join(ROOT, document), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)) {
      const file = path.join(ROOT, path.dirname(document), target);
      if (!existsSync(file)) broken.push(`${document}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every source file that the documents name exists', async () => {
  const files = (await Promise.all(SOURCE_FOLDERS.map(filesUnder))).flat();
  // Each file by the ends of its path: thousands of names are looked up among thousands of files.
  const known = new Set(files.flatMap((file) => file.split('/').map((_, at, parts) => parts.slice(at).join('/'))));
  const missing: string[] = [];
  for (const document of await documents()) {
    const text = await readFile(path.join(ROOT, document), 'utf8');
    for (const [, name = ''] of text.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|mjs|sql|md))`/g)) {
      // The place of a number that is to be chosen.
      if (!known.has(name) && !/\d{3,4}_/.test(name)) missing.push(`${document}: ${name}`);
    }
  }
  expect(missing).toEqual([]);
});
