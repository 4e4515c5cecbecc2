import { execFileSync, spawnSync } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SCRIPT = path.join(ROOT, 'test/support/write-release.ts');

let parent: string;
let clone: string;

/** A clone with one commit: as shallow as a clone of CI may be. */
beforeAll(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'headwater-release-'));
  clone = path.join(parent, 'clone');
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone], { stdio: 'ignore' });
  for (const [name, value] of [
    ['user.name', 'Tests'],
    ['user.email', 'tests@example.com'],
  ])
    git('config', name ?? '', value ?? '');
  for (const tag of git('tag', '--list').split('\n').filter(Boolean)) git('tag', '--delete', tag);
});
afterAll(() => rm(parent, { recursive: true, force: true }));

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
}

function release(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [SCRIPT, ...args], { cwd: clone, encoding: 'utf8' });
}

const read = (name: string) => readFile(path.join(clone, name), 'utf8');

test('without --write it prints its plan, and does nothing', async () => {
  const before = git('rev-parse', 'HEAD');
  const { status, stdout } = release('9.0.0');
  expect([status, stdout.split('\n')[0]]).toEqual([0, 'v9.0.0']);
  expect(stdout).toContain('  package-lock.json\n');
  expect(stdout).toContain('Nothing was written');
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([before, '', '']);
});

test('a tree with changes, an older version and a word are refused', async () => {
  expect(release('soon')).toMatchObject({ status: 1, stderr: expect.stringContaining('is no version') as string });
  expect(release('0.0.1').stderr).toContain('0.0.1 is older than');
  await appendFile(path.join(clone, 'README.md'), '\nMore.\n');
  expect(release('9.0.0').stderr).toContain('the tree is not clean');
  git('checkout', '--quiet', 'README.md');
});

test('it raises every version, cuts the changelog, commits and tags; the next one must be greater', async () => {
  const notes = (await read('CHANGELOG.md')).split('## Unreleased\n')[1]?.split('\n## ')[0]?.trim() ?? '';
  expect(release('9.0.0', '--write').status).toBe(0);
  expect([git('status', '--porcelain'), git('describe'), git('log', '-1', '--format=%s')]).toEqual([
    '',
    'v9.0.0',
    'release: v9.0.0',
  ]);
  const changed = git('show', '--name-only', '--format=').split('\n');
  const { workspaces } = JSON.parse(await read('package.json')) as { workspaces: string[] };
  for (const folder of ['', ...workspaces.map((name) => `${name}/`)]) {
    expect(changed).toContain(`${folder}package.json`);
    const { version, dependencies = {} } = JSON.parse(await read(`${folder}package.json`)) as {
      version: string;
      dependencies?: Record<string, string>;
    };
    const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@headwater/'));
    expect([version, ...ours.map(([, range]) => range)]).toEqual(['9.0.0', ...ours.map(() => '9.0.0')]);
  }
  const changelog = await read('CHANGELOG.md');
  expect(changelog).toMatch(/^## Unreleased\n\n## 9\.0\.0 \(\d{4}-\d\d-\d\d\)\n/m);
  expect(changelog.split(/^## 9\.0\.0.*\n/m)[1]).toContain(notes.slice(0, 200));
  // Nothing is left of the version before.
  const diff = git('show', '--format=', '--', 'package-lock.json').split('\n');
  expect(diff.filter((line) => /^\+[^+]/.test(line) && !line.includes('9.0.0'))).toEqual([]);

  expect(release('9.0.0').stderr).toContain('9.0.0 does not follow v9.0.0');
  expect(release('9.1.0').stderr).toContain('nothing is in the section "Unreleased"');
});
