// builder: Imports by a pattern, which the bundler looks up on the disk itself, to learn which files the server has.
import { expect, it } from 'vitest';
import { emitting, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

/**
 * Patterns of existing files, missing files, missing folders, and files that only the server's user
 * may read.
 */
const PATTERNS = [
  `import('./etc/pass' + x + 'wd')`,
  `import('./etc/pasq' + x + 'wd')`,
  `import('./no-such-folder/a' + x)`,
  `import('../../../../etc/host' + x + 'name')`,
  'import(`./proc/self/envi${x}`)',
  `import('./' + x + '/passwd')`,
  `import('./root/' + x)`,
  `import('./dev/zer' + x)`,
];

async function told(codes: readonly string[]): Promise<Set<string>> {
  const answers: string[] = [];
  for (const code of codes) answers.push(JSON.stringify(await chain.save(code)));
  return new Set(answers);
}

it('are answered the same whatever is there', async () => {
  const components = PATTERNS.map((pattern) => `export default { name: 'Looks', run: async ({ x }) => ${pattern} };`);
  const answers = await told(components);
  expect([...answers]).toEqual([expect.stringContaining('each file has to be named')]);
});

/**
 * Requires by the pattern, and answers what that came to with nothing that the pattern itself says.
 */
function lookingPackage(name: string, pattern: string) {
  const index = `
    const look = (x) => ${pattern.replace('import(', 'require(')};
    exports.look = () => {
      try {
        return Object.keys(look(''));
      } catch (error) {
        return [error.code, error.message.replace(/'.*'/, ''), Object.keys(error).join()];
      }
    };`;
  return { name, version: '1.0.0', files: { 'index.js': index } };
}

it('of a package mean no file but its own, whatever is there', async () => {
  const names = PATTERNS.map((_, i) => `looks-${i}`);
  await chain.publish(...PATTERNS.map((pattern, i) => lookingPackage(names[i] ?? '', pattern)));
  const answers = new Set<string>();
  for (const name of names) {
    const { events } = await chain.deploy(`import found from '${name}';\n${emitting('found.look()')}`);
    answers.add(JSON.stringify(events));
  }
  expect([...answers]).toEqual([JSON.stringify([{ found: ['MODULE_NOT_FOUND', 'Cannot find module ', 'code'] }])]);
});
