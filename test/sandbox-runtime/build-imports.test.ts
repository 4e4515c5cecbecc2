import { beforeAll, describe, expect, test } from 'vitest';
import { buildKitForFile } from '../support/build-kit.ts';

const kit = buildKitForFile();

const plain = (name: string, ...versions: string[]) => versions.map((version) => ({ name, version }));

beforeAll(() => {
  kit.registry.add(
    ...plain('plain', '1.0.0', '1.2.0', '1.2.9', '1.3.0', '2.0.0', '2.1.0'),
    ...plain('@scope/thing', '0.1.0', '0.2.0'),
    {
      name: '@scope/deep',
      version: '3.0.0',
      files: { 'index.js': '', 'sub/path.js': 'exports.found = "deep";', 'data.json': '{"list":[1,2]}' },
    },
    {
      name: 'esm',
      version: '1.0.0',
      manifest: { type: 'module' },
      files: { 'index.js': 'export default "d"; export const named = "n";' },
    },
  );
});

describe('requests of an import string', () => {
  test.each([
    ['plain', 'plain@2.1.0'],
    ['plain@latest', 'plain@2.1.0'],
    ['plain@1.2.0', 'plain@1.2.0'],
    ['plain@~1.2', 'plain@1.2.9'],
    ['plain@^1', 'plain@1.3.0'],
    ['@scope/thing', '@scope/thing@0.2.0'],
    ['@scope/thing@0.1.0', '@scope/thing@0.1.0'],
  ])('%s is %s', async (specifier, expected) => {
    expect(await kit.load(`import found from '${specifier}'; export default found;`)).toBe(expected);
  });

  test('a path inside a package, with a version and without', async () => {
    const code = `import { found } from '@scope/deep@^3/sub/path'; import other from '@scope/deep/sub/path.js';
      import data from '@scope/deep@3.0.0/data.json';
      export default [found, other.found, data.list];`;
    expect(await kit.load(code)).toEqual(['deep', 'deep', [1, 2]]);
  });

  test('require and import() of literals', async () => {
    const code = "const required = require('plain@1.0.0'); module.exports = [required, import('esm')];";
    const [first, second] = (await kit.load(code)) as [string, Promise<unknown>];
    expect([first, await second]).toEqual(['plain@1.0.0', expect.objectContaining({ default: 'd', named: 'n' })]);
    expect(await kit.load("const { named } = await import('esm@1'); export default named;")).toBe('n');
  });

  test('two versions of one package side by side', async () => {
    const outcome = await kit.build("import a from 'plain@1.0.0'; import b from 'plain'; export default [a, b];");
    expect(outcome).toMatchObject({ ok: true, dependencies: { plain: '2.1.0', 'plain@1.0.0': '1.0.0' } });
    expect(await kit.load("import a from 'plain@1.0.0'; import b from 'plain'; export default [a, b];")).toEqual([
      'plain@1.0.0',
      'plain@2.1.0',
    ]);
  });

  test('TypeScript as it is, where an import of types alone asks for no package', async () => {
    const code = `import type { Nothing } from 'there-is-no-such-package';
      import found from 'plain';
      const typed: string = found; export default typed satisfies string;`;
    expect(await kit.load(code)).toBe('plain@2.1.0');
  });

  test('without an import of a package no process is started and the registry is not asked', async () => {
    const before = kit.registry.requests.length;
    const outcome = await kit.build("import { join } from 'node:url'; export default 1;");
    expect(outcome).toMatchObject({ ok: true, dependencies: {} });
    expect(kit.registry.requests).toHaveLength(before);
  });
});

describe('a wrong import is reported with its line', () => {
  test.each([
    ['nothing-here', 'there is no such package in the registry'],
    ['plain@^9', 'the registry has no version that fits "^9"; the latest is 2.1.0'],
    ['plain/nope.js', 'plain@2.1.0 has no "nope.js"'],
    ['/etc/passwd', 'files of the server cannot be imported'],
    ['../../../etc/passwd', 'there is no such file beside the component'],
    ['file:///etc/passwd', 'imports from file: addresses are not available'],
    ['https://example.com/x.mjs', 'imports from https: addresses are not available'],
    ['plain@file:../x', '"file:.." is not a version, a range or a tag of the registry'],
    ['plain@git+ssh://git@host/x', 'is not a version, a range or a tag of the registry'],
    ['plain/../../x', 'a path inside a package cannot contain dots'],
    ['node_modules', 'this is not the name of a package'],
  ])('%s', async (specifier, reason) => {
    const outcome = await kit.build(`\nimport x from '${specifier}';\nexport default x;`);
    if (outcome.ok) throw new Error('It was built');
    expect(outcome.errors[0]).toMatchObject({ file: 'component.mjs', line: 2 });
    expect(outcome.errors[0]?.message).toContain(`Cannot resolve "${specifier}": `);
    expect(outcome.errors[0]?.message).toContain(reason);
  });

  test('all of them at once', async () => {
    const outcome = await kit.build("import 'nothing-here';\nimport 'plain@^9';\nimport 'plain';");
    expect(outcome).toMatchObject({
      ok: false,
      errors: [expect.objectContaining({ line: 1 }), expect.objectContaining({ line: 2 })],
    });
  });
});
