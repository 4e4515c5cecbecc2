import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Runs every `check:*` script of package.json through turbo, two at a time. All run even when one
 * fails; turbo prints the output of those that failed and ends with their names. Turbo sends usage
 * data unless told not to, hence this file: an environment variable before a command is not
 * portable.
 */
function runChecks(root: string): number {
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> };
  const tasks = Object.keys(scripts).filter((name) => name.startsWith('check:'));
  // The types of the web UI are made of this tree's OpenAPI document; several checks read them.
  const types = spawnSync('node', ['test/support/write-web-schema.ts'], { cwd: root, stdio: 'inherit' });
  if (types.status !== 0) return types.status ?? 1;
  const flags = ['--continue=always', '--output-logs=errors-only', '--log-order=grouped', '--log-prefix=none'];
  const { status, error } = spawnSync('turbo', ['run', ...tasks, ...flags, '--concurrency=2'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
    shell: process.platform === 'win32',
  });
  if (error !== undefined) console.error(`turbo did not start: ${error.message}. Was \`npm ci\` run?`);
  return status ?? 1;
}

process.exitCode = runChecks(process.cwd());
