import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';

vi.setConfig({ testTimeout: 60_000 });

let user: CliUser;
let folder: string;
beforeEach(async () => {
  user = await createCliUser({}, { ownProcess: true });
  delete user.env['NODE_COMPILE_CACHE'];
  folder = path.join(user.home, '.cache/headwater/compiled');
  await mkdir(folder, { recursive: true, mode: 0o700 });
});
afterEach(async () => {
  await rm(user.home, { recursive: true, force: true });
});

async function compiledFiles(): Promise<number> {
  expect(await user.hw(['--version'])).toMatchObject({ code: 0 });
  return (await readdir(folder, { recursive: true })).length;
}

test.runIf(process.platform !== 'win32')('code that others could have put there is not run', async () => {
  for (const mode of [0o720, 0o702]) {
    await chmod(folder, mode);
    expect(await compiledFiles()).toBe(0);
  }
  await chmod(folder, 0o755);
  expect(await compiledFiles()).toBeGreaterThan(50);
});

test.runIf(process.getuid?.() === 0)('root leaves the compiled code of another user alone', async () => {
  await chown(folder, 12_345, 12_345);
  expect(await compiledFiles()).toBe(0);
});
