import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type CliUser, createCliUser } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { type Headwater, startHeadwater } from './support/headwater.ts';

// Every command is a process of its own: beside other work each takes a second instead of a tenth.
vi.setConfig({ testTimeout: 90_000 });

const ROOT = path.resolve(import.meta.dirname, '..');

let hw: Headwater;
let user: CliUser;

beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(async () => {
  await user?.remove();
  await hw?.stop();
});

const KINDS = [[], ['--http', '--db'], ['--timer'], ['--timer', '--db'], ['--http', '--timer', '--db']];

test('every file that init makes passes the strict type check, in JavaScript and in TypeScript, and is deployed as it is', async () => {
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey });
  const sources: string[] = [];
  for (const [at, flags] of KINDS.entries()) {
    for (const ts of [[], ['--ts']]) {
      const { files } = await user.json('init', 'source', `made-${at}${ts.length === 0 ? '' : '-ts'}`, ...flags, ...ts);
      sources.push(files[0]);
    }
  }
  const actions = [];
  for (const ts of [[], ['--ts']]) {
    actions.push((await user.json('init', 'action', `act${ts.join('')}`, ...ts)).files[0]);
    await user.json('init', 'app', `acme${ts.join('')}`, ...ts);
  }
  expect((await readdir(user.workDir)).filter((name) => /\.(mjs|ts)$/.test(name))).toHaveLength(14);
  expect(compile(user.workDir, await prepareProject(user.workDir))).toBe('');
  for (const file of sources) expect(await user.json('deploy', file)).toMatchObject({ active: true });
  for (const file of actions) expect(await user.json('publish', file)).toMatchObject({ type: 'action' });
});

/** As an author has it: the types in node_modules, the tsconfig.json that init made, and JavaScript checked as well. */
async function prepareProject(folder: string): Promise<string> {
  await mkdir(path.join(folder, 'node_modules/@headwater'), { recursive: true });
  await symlink(path.join(ROOT, 'types'), path.join(folder, 'node_modules/@headwater/types'));
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  const project = { extends: './tsconfig.json', compilerOptions: { allowJs: true, checkJs: true }, include: ['*'] };
  await writeFile(path.join(folder, 'tsconfig.all.json'), JSON.stringify(project));
  return 'tsconfig.all.json';
}

function compile(folder: string, project: string): string {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', project, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout || stderr;
}

test('init replaces nothing that is there, unless it is told to, and refuses a name that is none', async () => {
  const other = await createCliUser();
  try {
    await writeFile(path.join(other.workDir, 'mine.mjs'), 'precious');
    expect(await other.hw(['init', 'source', 'mine'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--force'),
    });
    expect(await readFile(path.join(other.workDir, 'mine.mjs'), 'utf8')).toBe('precious');
    expect((await other.hw(['init', 'source', 'mine', '--force'])).code).toBe(0);
    expect(await readFile(path.join(other.workDir, 'mine.mjs'), 'utf8')).toContain('defineSource');
    expect(await other.json('init', 'action', 'deep/er/It is "New"!')).toEqual({ files: ['deep/er/it-is-new.mjs'] });
    expect((await other.hw(['init', 'action', '---', '-q'])).code).toBe(2);
  } finally {
    await other.remove();
  }
});

test('from an empty folder to a deployed source with live events', async () => {
  const newcomer = await createCliUser();
  try {
    const beganMs = Date.now();
    await newcomer.hw(['login', '--url', hw.url], { stdin: hw.apiKey });
    await newcomer.hw(['init', 'source', 'first-steps']);
    const deployed = await newcomer.hw(['deploy', 'first-steps.mjs']);
    const [, endpoint = ''] = /Endpoint: (\S+)/.exec(deployed.stdout) ?? [];
    const live = newcomer.start(['events', 'first-steps', '-f']);
    await eventually(async () => (await fetch(endpoint, { method: 'POST', body: 'hello' })).status === 200);
    await live.untilOutput(/POST \/\t.*"hello"/);
    expect((await live.end()).code).toBe(130);
    expect(Date.now() - beganMs).toBeLessThan(120_000);
  } finally {
    await newcomer.remove();
  }
});
