import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSnapshotStore } from '../../sandbox-runtime/src/pool/kept-snapshot.ts';
import { makeDataDir } from '../support/run-folder.ts';

const SNAPSHOT = Buffer.from('a snapshot of the guest');
const START_SANDBOX = new URL('../../sandbox-runtime/src/pool/start-sandbox.ts', import.meta.url).href;

let guest: string;
let files: string[];

beforeEach(() => {
  guest = `the guest of ${makeDataDir()}`;
  files = [];
});
afterEach(() => Promise.all(files.map((file) => rm(file, { force: true }))));

async function keepOne(): Promise<string> {
  await openSnapshotStore(guest).keep(SNAPSHOT);
  const file = openSnapshotStore(guest).kept?.path ?? '';
  files.push(file);
  return file;
}

test('a snapshot is kept for the next start, with the same guest', async () => {
  expect(openSnapshotStore(guest).kept).toBeUndefined();
  const file = await keepOne();
  expect(openSnapshotStore(guest).kept).toEqual({ path: file, bytes: SNAPSHOT.length });
  expect((await readFile(file)).subarray(0, SNAPSHOT.length)).toEqual(SNAPSHOT);
  expect(openSnapshotStore(`${guest} that was changed`).kept).toBeUndefined();
});

test('one of another guest is removed once it is a day old', async () => {
  const old = await keepOne();
  guest = `${guest} that was changed`;
  const next = await keepOne();
  expect((await stat(old)).size).toBe((await stat(next)).size);
  const dayBefore = Date.now() / 1_000 - 25 * 3_600;
  await utimes(old, dayBefore, dayBefore);
  await keepOne();
  await expect(stat(old)).rejects.toThrow('ENOENT');
  expect(openSnapshotStore(guest).kept).toEqual({ path: next, bytes: SNAPSHOT.length });
});

test.each<[string, (file: string) => Promise<void>]>([
  ['it was cut short', (file) => truncate(file, 40)],
  ['it is empty', (file) => truncate(file, 0)],
  ['a byte is another', async (file) => writeFile(file, (await readFile(file)).fill('x', 3, 4))],
])('is made anew when %s', async (_when, change) => {
  await change(await keepOne());
  expect(openSnapshotStore(guest).kept).toBeUndefined();
});

/** Processes that ended unexpectedly, in a sandbox that starts with this compile cache. */
async function lostAtStart(cache: string): Promise<number> {
  const script = `
    const { startSandbox } = await import(${JSON.stringify(START_SANDBOX)});
    let lost = 0;
    const log = (_level, message) => { if (message === 'A sandbox process ended') lost++; };
    const sandbox = await startSandbox({ log });
    await sandbox.stop();
    process.stdout.write(String(lost));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cache },
  });
  return Number(stdout);
}

test('a sandbox keeps one, starts with it, and starts without it where V8 refuses it', async () => {
  const cache = makeDataDir();
  const own = path.join(cache, path.basename(getCompileCacheDir() ?? ''));
  // Bundles are not what this is about, and take seconds.
  await mkdir(own);
  for (const name of await readdir(getCompileCacheDir() ?? '')) {
    const isBundle = name.startsWith('headwater-') && name.endsWith('.json');
    if (isBundle) await writeFile(path.join(own, name), await readFile(path.join(getCompileCacheDir() ?? '', name)));
  }
  expect(await lostAtStart(cache)).toBe(0);
  const [name] = (await readdir(own)).filter((one) => one.startsWith('headwater-snapshot-'));
  const file = path.join(own, name ?? '');
  const refused = Buffer.alloc(64, 'no snapshot');
  await writeFile(file, Buffer.concat([refused, hash('sha256', refused, 'buffer')]));
  expect(await lostAtStart(cache)).toBe(1);
  expect((await stat(file)).size).toBeGreaterThan(1_000_000);
  expect(await lostAtStart(cache)).toBe(0);
});
