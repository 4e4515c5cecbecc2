import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { planRelease } from './plan-release.ts';

/*
 * npm run release -- 0.2.0          says what it would do
 * npm run release -- 0.2.0 --write  writes the version, cuts the changelog, commits and tags
 *
 * Works on the clone that it is called in. Nothing is pushed: look at the commit first.
 */
const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
const [version = ''] = positionals;
const root = process.cwd();
const plan = planRelease(root, version, new Date().toISOString().slice(0, 10));
if (plan.problems.length > 0) {
  process.stderr.write(`No release:\n${plan.problems.map((problem) => `  - ${problem}\n`).join('')}`);
  process.exitCode = 1;
} else if ('files' in plan) {
  const { tag, files, notes } = plan;
  const names = files.map(({ name }) => `  ${name}\n`).join('');
  process.stdout.write(`${tag}\n\n${names}\n${notes}\n`);
  if (values.write === true) {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    for (const { name, text } of files) writeFileSync(path.join(root, name), text);
    git('add', ...files.map(({ name }) => name));
    git('commit', '--quiet', '-m', `release: ${tag}`);
    git('tag', '--annotate', tag, '-m', `Headwater ${version}`);
    process.stdout.write(`\nCommitted and tagged. To publish: git push --follow-tags\n`);
  } else process.stdout.write('\nNothing was written. With --write it is done.\n');
}
