import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let hw: Headwater;
let user: CliUser;

beforeAll(async () => {
  hw = await sharedHeadwater();
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
  const workflows = [];
  for (const ts of [[], ['--ts']]) {
    actions.push((await user.json('init', 'action', `act${ts.join('')}`, ...ts)).files[0]);
    await user.json('init', 'app', `acme${ts.join('')}`, ...ts);
    workflows.push((await user.json('init', 'workflow', `flow${ts.join('')}`, ...ts)).files[0]);
  }
  expect((await readdir(user.workDir)).filter((name) => /\.(mjs|ts)$/.test(name))).toHaveLength(17);
  const project = await prepareProject(user.workDir);
  expect(compile(user.workDir, project)).toBe('');
  const wrong = (await readFile(path.join(user.workDir, 'made-0.mjs'), 'utf8')).replace(
    'this.greeting',
    'this.greting',
  );
  await writeFile(path.join(user.workDir, 'wrong.mjs'), wrong);
  expect(compile(user.workDir, project)).toMatch(
    /^wrong\.mjs\(\d+,\d+\): error TS2551: Property 'greting' does not exist/,
  );
  for (const file of sources) expect(await user.json('deploy', file)).toMatchObject({ active: true });
  for (const file of actions) expect(await user.json('publish', file)).toMatchObject({ type: 'action' });
  for (const file of workflows)
    expect(await user.json('workflows', 'create', file)).toMatchObject({
      active: true,
      steps: [{ namespace: 'shout' }],
    });
});

/**
 * As an author has it: what init made, nothing installed, and JavaScript and the types themselves
 * checked as well.
 */
async function prepareProject(folder: string): Promise<string> {
  const options = { allowJs: true, checkJs: true, skipLibCheck: false, types: [] };
  const project = { extends: './tsconfig.json', compilerOptions: options, include: ['*'] };
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

test('the types that init writes are those of the package: what must compile with it compiles, and what must not does not', async () => {
  const author = await createCliUser();
  try {
    expect(await author.json('init', 'types')).toEqual({ files: ['headwater.d.ts'] });
    const own = path.join(ROOT, 'test/types');
    const paths = { '@headwater/types': ['./nowhere.d.ts'] };
    const project = { extends: path.join(own, 'tsconfig.json'), compilerOptions: { paths }, include: ['.', own] };
    await writeFile(path.join(author.workDir, 'tsconfig.json'), JSON.stringify(project));
    expect(compile(author.workDir, 'tsconfig.json')).toBe('');
  } finally {
    await author.remove();
  }
});

test('a project has one file of types, which is updated, and no foreign file is replaced', async () => {
  const author = await createCliUser();
  const file = path.join(author.workDir, 'headwater.d.ts');
  try {
    await author.json('init', 'source', 'first', '--ts');
    expect(await author.json('init', 'action', 'deep/second')).toEqual({ files: ['deep/second.mjs'] });
    expect(await readFile(path.join(author.workDir, 'deep/second.mjs'), 'utf8')).toContain('path="../headwater.d.ts"');
    expect(await author.json('init', 'types')).toEqual({ files: [] });
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.slice(0, 200));
    expect(await author.json('init', 'types')).toEqual({ files: ['headwater.d.ts'] });
    expect(await readFile(file, 'utf8')).toBe(text);
    await writeFile(file, 'declare const mine: string;');
    expect(await author.hw(['init', 'types'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
    expect(await author.json('init', 'source', 'third')).toEqual({ files: ['third.mjs'] });
    expect(await readFile(file, 'utf8')).toContain('mine');
    expect(await author.json('init', 'types', '--force')).toEqual({ files: ['headwater.d.ts'] });
    await mkdir(path.join(author.workDir, 'node_modules/@headwater/types'), { recursive: true });
    expect((await author.hw(['init', 'types'])).stdout).toContain('is installed');
  } finally {
    await author.remove();
  }
});

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
    expect(await other.json('init', 'action', 'deep/er/It is "New"!')).toMatchObject({
      files: ['deep/er/it-is-new.mjs'],
    });
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
