import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('reading the exports of Node’s modules does not load those that slow a process down, and knows theirs', () => {
  const module = new URL('../../sandbox-runtime/src/builder/node-facts.ts', import.meta.url).href;
  const script = `
    import { createRequire } from 'node:module';
    const { readNodeFacts } = await import(${JSON.stringify(module)});
    const { exports } = readNodeFacts();
    const loaded = process.moduleLoadList.filter((name) => / (?:domain|repl|wasi)$/.test(name));
    const require = createRequire(import.meta.url);
    const functionsOf = (real) => Object.keys(real).filter((key) => !key.startsWith('_') && typeof real[key] === 'function');
    const names = ['domain', 'repl', 'wasi'];
    const real = names.map((name) => functionsOf(require('node:' + name)).toSorted());
    console.log(JSON.stringify({ loaded, real, known: names.map((name) => exports[name].functions.toSorted()) }));`;
  const output = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  const { loaded, real, known } = JSON.parse(output) as { loaded: string[]; real: string[][]; known: string[][] };
  expect(loaded).toEqual([]);
  expect(known).toEqual(real);
});
