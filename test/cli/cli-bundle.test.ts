import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bundleComponent } from '@headwater/sandbox-runtime';
import { bundleFiles } from '../../cli/src/bundle/bundle-files.ts';
import { loadComponentCode } from '../../cli/src/component-code.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'headwater-bundle-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

const at = (name: string) => path.join(dir, name);

describe('a local component', () => {
  test('with one file is sent unchanged', async () => {
    const text =
      'import axios from "axios@^1";\n// kept\nexport default { name: "one", version: "1", run() { axios; } };\n';
    await put({ 'one.mjs': text });
    expect(await loadComponentCode(at('one.mjs'))).toBe(text);
  });

  test('brings along what it imports by relative paths, JSON and TypeScript too, and names every file of it', async () => {
    await put({
      'sources/new.ts':
        'import app from "../app.app.mjs";\nimport { add } from "./lib/add";\nimport data from "./data.json";\n' +
        'export default { name: "new", version: "1", run(): number { return add(data.one, app.two); } };\n',
      'sources/lib/add.ts': 'export function add(a: number, b: number): number { return a + b; }\n',
      'sources/data.json': '{ "one": 1 }',
      'app.app.mjs': 'export default { two: 2 };\n',
    });
    const { code = '', files } = await bundleFiles(at('sources/new.ts'));
    expect(code).not.toMatch(/from "\.|: number/);
    expect(code).toContain('two: 2');
    const names = files.map((file) => path.relative(dir, file).replaceAll(path.sep, '/'));
    expect(new Set(names)).toEqual(
      new Set(['app.app.mjs', 'sources/data.json', 'sources/lib/add.ts', 'sources/new.ts']),
    );
  });

  test('leaves packages to the server, in the versions of the nearest package.json', async () => {
    await put({
      'package.json': '{ "dependencies": { "axios": "^1.7.0", "outer": "1.0.0" } }',
      'inner/package.json':
        '{ "dependencies": { "lodash": "~4.17.0", "@scope/a": "2.0.0", "local": "file:../x", "git": "github:a/b" } }',
      'inner/main.mjs':
        'import _ from "lodash/get.js";\nimport a from "@scope/a";\nimport l from "local";\nimport g from "git";\n' +
        'import o from "outer";\nimport fs from "node:fs";\nimport path from "path";\nimport x from "lodash@3";\n' +
        'export default { name: "m", version: "1", run() { return [_, a, l, g, o, fs, path, x]; } };\n',
    });
    const code = await loadComponentCode(at('inner/main.mjs'));
    const imported = [...code.matchAll(/from "([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(imported)).toEqual(
      new Set(['lodash@~4.17.0/get.js', '@scope/a@2.0.0', 'local', 'git', 'outer', 'node:fs', 'path', 'lodash@3']),
    );
  });

  test('sends no folder: an import by a pattern is refused, even if files match it', async () => {
    await put({ 'config/a.json': '{}', 'config/.hidden.json': '{ "key": "SECRET" }', 'config/deep/b.json': '{}' });
    for (const argument of ["'./config/' + this.name + '.json'", '`./config/${this.name}.json`'])
      for (const call of ['import', 'require']) {
        await put({ 'one.mjs': `export default { name: 'one', version: '1', run() { ${call}(${argument}); } };\n` });
        await expect(loadComponentCode(at('one.mjs'))).rejects.toMatchObject({
          exit: 'component',
          fields: [{ file: 'one.mjs', message: expect.stringContaining('each file has to be named') }],
        });
      }
  });

  test('with mistakes is refused with each place, before anything is sent', async () => {
    await put({
      'main.mjs': 'import { a } from "./part.mjs";\nimport b from "./gone.mjs";\nexport default { a, b };\n',
      'part.mjs': 'export const a = ;\n',
    });
    await expect(bundleFiles(at('main.mjs'))).rejects.toMatchObject({
      exit: 'component',
      fields: expect.arrayContaining([
        expect.objectContaining({
          file: 'part.mjs',
          line: 1,
          column: 17,
          message: expect.stringContaining('export const a = ;'),
        }),
        expect.objectContaining({ file: 'main.mjs', line: 2, message: expect.stringContaining('./gone.mjs') }),
      ]),
    });
  });

  test('keeps the lines of its files through the bundling of the server', async () => {
    await put({
      'main.mjs':
        'import { part } from "./lib/part.mjs";\nexport default { name: "m", version: "1", run() { part(); } };\n',
      'lib/part.mjs': '// first\n// second\nexport function part() {\n  throw new Error("here");\n}\n',
    });
    const outcome = await bundleComponent(await loadComponentCode(at('main.mjs')));
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.errors));
    const map = JSON.parse(outcome.bundle.sourceMap) as { sources: string[] };
    expect(map.sources).toEqual(expect.arrayContaining(['lib/part.mjs', 'main.mjs']));
  });

  test('with a source map that says nothing is refused with its own places', async () => {
    const broken = 'export default {\n  name: ,\n};\n';
    const maps = [
      'null',
      '{',
      '{"sources":7,"mappings":";"}',
      '{"sources":[{}],"mappings":";AAAA"}',
      '{"mappings":"AAAA"}',
    ];
    for (const map of maps) {
      const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`;
      const outcome = await bundleComponent(broken + comment, 'own.mjs');
      expect(outcome).toMatchObject({ ok: false, errors: [{ file: 'own.mjs', line: 2, column: 8 }] });
    }
  });
});
