// builder: Imports by a pattern, which the bundler looks up on the disk itself, to learn which files the server has.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

/** Of files that are there, that are not, in folders that are not, and that only the server's user may read. */
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

it('of a package as well', async () => {
  const names = PATTERNS.map((_, i) => `looks-${i}`);
  for (const [i, name] of names.entries()) {
    const index = `exports.look = (x) => ${PATTERNS[i]?.replace('import(', 'require(')};`;
    await chain.publish({ name, version: '1.0.0', files: { 'index.js': index } });
  }
  const answers = await told(names.map((name) => `import look from '${name}'; export default look;`));
  expect([...answers]).toEqual([expect.stringContaining('each file has to be named')]);
});
