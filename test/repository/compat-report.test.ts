import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APP_TREE, type ComponentFolder, createComponentFolder } from '../support/component-folder.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const SAVING = [
  'weather/actions/tell/tell.js',
  'weather/sources/new-storm/new-storm.mjs',
  'weather/sources/typed/typed.ts',
];
const FAILING = ['weather/actions/throws/throws.mjs', 'weather/sources/broken/broken.mjs'];

let headwater: Headwater;
let folder: ComponentFolder;

beforeAll(async () => {
  [headwater, folder] = await Promise.all([sharedHeadwater(), createComponentFolder(APP_TREE)]);
});

afterAll(async () => {
  await headwater.stop();
  await folder.remove();
});

function compat(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', 'compat', '--', ...args], { cwd: PROJECT }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const running = () => ['--url', headwater.url, '--key', headwater.apiKey];

describe('npm run compat', () => {
  it('saves every component of the folder and prints exactly the report as JSON', async () => {
    const { code, stdout } = await compat(folder.path, ...running(), '--json');
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { failed: { path: string }[] };
    expect(report).toEqual({
      total: 5,
      saved: 3,
      failed: [
        {
          path: FAILING[0],
          cause: "load: TypeError: Cannot read properties of undefined (reading 'limit')",
          message: expect.stringMatching(/^weather\/actions\/throws\/throws\.mjs:3: The component failed to load/),
        },
        {
          path: FAILING[1],
          cause: 'bundle: import ../../gone.mjs not found',
          message: expect.stringMatching(/^weather\/sources\/broken\/broken\.mjs:2: /),
        },
      ],
    });
    const saved = await headwater.api('GET', '/components/weather-new-storm');
    expect(saved.data).toMatchObject({ name: 'New storm', version: '0.0.1' });
  });

  it('says in words how many were saved, why others were not, and how long it took', async () => {
    const { code, stdout } = await compat(folder.path, ...running());
    expect(code).toBe(0);
    expect(stdout).toMatch(/^5 components, 3 saved \(60\.0 %\), 2 failed\n/);
    expect(stdout).toMatch(/a save took \d+ ms p50, \d+ ms p99/);
    for (const path of FAILING) expect(stdout).toContain(path);
    for (const path of SAVING) expect(stdout).not.toContain(path);
  });

  it('starts a server of its own where none is named, and takes the same sample for the same seed', {
    timeout: 90_000,
  }, async () => {
    const first = await compat(folder.path, '--json', '--sample', 'a seed', '--limit', '4');
    const second = await compat(folder.path, '--json', '--sample', 'a seed', '--limit', '4', ...running());
    expect(JSON.parse(first.stdout)).toMatchObject({ total: 4 });
    expect(second.stdout).toBe(first.stdout);
  });

  it('runs what was saved against a mock of its API where it is told to', async () => {
    const { code, stdout } = await compat(folder.path, ...running(), '--run', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      saved: 3,
      run: { total: 1, completed: 1, failed: [], unanswered: 0, silent: 2 },
    });
  });

  it('reports mistakes in its arguments', async () => {
    const { code, stdout, stderr } = await compat('--limit', '0', '--url', 'nowhere');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    for (const part of ['Name one folder', '--url and --key', 'not a URL', '--limit must be', 'npm run compat']) {
      expect(stderr).toContain(part);
    }
  });
});
