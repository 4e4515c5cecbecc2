import { beforeAll, expect, test } from 'vitest';
import { buildKitForFile } from '../support/build-kit.ts';

const kit = buildKitForFile();
const versionsOf = (name: string, ...versions: string[]) => versions.map((version) => ({ name, version }));

/** A package whose export lists the exports of its dependencies. */
const asking = (name: string, dependencies: Record<string, string>, more: Record<string, unknown> = {}) => ({
  name,
  version: '1.0.0',
  manifest: { dependencies, ...more },
  files: {
    'index.js': `module.exports = [${Object.keys(dependencies)
      .map((dep) => `require('${dep}')`)
      .join(', ')}];`,
  },
});

beforeAll(() => {
  kit.registry.add(...versionsOf('leaf', '1.0.0', '1.1.0', '2.0.0'));
});

test('each package gets its own version of a shared dependency', async () => {
  kit.registry.add(
    asking('wants-one', { leaf: '^1' }),
    asking('wants-two', { leaf: '2', inner: '*' }),
    asking('inner', { leaf: '1.0.0' }),
    asking('outer', { 'wants-one': '*', 'wants-two': '*', leaf: '*' }),
  );
  expect(await kit.load("import all from 'outer'; export default all;")).toEqual([
    ['leaf@1.1.0'],
    ['leaf@2.0.0', ['leaf@1.0.0']],
    'leaf@2.0.0',
  ]);
});

test('a package that two others can share is in the bundle once', async () => {
  kit.registry.add(
    { name: 'stateful', version: '1.0.0', files: { 'index.js': 'module.exports = { made: 0 };' } },
    asking('left', { stateful: '^1' }),
    asking('right', { stateful: '1.x' }),
  );
  const code = "import left from 'left'; import right from 'right'; export default left[0] === right[0];";
  expect(await kit.load(code)).toBe(true);
});

test('a peer is the one that the component or another package brings', async () => {
  kit.registry.add({
    ...asking('plugin', { leaf: '' }, { dependencies: {}, peerDependencies: { leaf: '^1' } }),
  });
  expect(
    await kit.load("import leaf from 'leaf@1.0.0'; import plugin from 'plugin'; export default [leaf, plugin];"),
  ).toEqual(['leaf@1.0.0', ['leaf@1.0.0']]);
  expect(await kit.load("import plugin from 'plugin'; export default plugin;")).toEqual([['leaf@1.1.0'][0]]);
});

test('a package under another name', async () => {
  kit.registry.add(asking('aliased', { 'old-leaf': 'npm:leaf@1.0.0', leaf: '^2' }));
  expect(await kit.load("import all from 'aliased'; export default all;")).toEqual(['leaf@1.0.0', 'leaf@2.0.0']);
});

test('a missing optional dependency shows only to the package that asks for it', async () => {
  kit.registry.add({
    name: 'careful',
    version: '1.0.0',
    manifest: { optionalDependencies: { gone: '^1', leaf: '^1' } },
    files: {
      'index.js': `let gone; try { gone = require('gone'); } catch (error) { gone = error.code; }
        module.exports = [gone, require('leaf'), () => require('never-declared')];`,
    },
  });
  const [gone, leaf, later] = (await kit.load("import all from 'careful'; export default all;")) as [
    string,
    string,
    () => void,
  ];
  expect([gone, leaf]).toEqual(['MODULE_NOT_FOUND', 'leaf@1.1.0']);
  expect(later).toThrow("Cannot find module 'never-declared', imported by careful");
});

test('a package with versions for import and require, used both ways, is in the bundle once', async () => {
  kit.registry.add(
    {
      name: 'both',
      version: '1.0.0',
      manifest: { main: './main.cjs', module: './module.mjs' },
      files: { 'main.cjs': 'exports.box = {};', 'module.mjs': 'export const box = {};' },
    },
    {
      name: 'requires-both',
      version: '1.0.0',
      manifest: { dependencies: { both: '1' } },
      files: { 'index.js': "module.exports = require('both');" },
    },
  );
  const code = "import { box } from 'both'; import other from 'requires-both'; export default box === other.box;";
  expect(await kit.load(code)).toBe(true);
});

test('packages are taken as Node takes them, not as browsers do', async () => {
  kit.registry.add({
    name: 'two-faced',
    version: '1.0.0',
    manifest: {
      main: './node.js',
      browser: { './node.js': './browser.js' },
      exports: { '.': { browser: './browser.js', node: './node.js' } },
    },
    files: { 'node.js': "module.exports = 'node';", 'browser.js': "module.exports = 'browser';" },
  });
  expect(await kit.load("import found from 'two-faced'; export default found;")).toBe('node');
});

test("modules of Node are the guest's, by every way to import them", async () => {
  kit.registry.add(
    {
      name: 'uses-node',
      version: '1.0.0',
      manifest: { type: 'module' },
      files: {
        'index.js': `import url, { format } from 'node:url'; import * as all from 'url'; import cjs from './cjs.cjs';
          export default [url.format === format, all.format === format, cjs === format];`,
        'cjs.cjs': "module.exports = require('url').format;",
      },
    },
    { name: 'url', version: '9.9.9', files: { 'index.js': "module.exports = 'a package';" } },
  );
  expect(await kit.load("import all from 'uses-node'; export default all;")).toEqual([true, true, true]);
});

test('a native addon fails where it is used, with the name of its package', async () => {
  kit.registry.add({
    name: 'native',
    version: '1.0.0',
    files: { 'index.js': "exports.load = () => require('./addon.node');", 'addon.node': 'ELF' },
  });
  const { load } = (await kit.load("import native from 'native'; export default native;")) as { load: () => void };
  expect(load).toThrow('Native addons are not available in the sandbox, and native needs one');
});

test('the place and the environment that a module reads have values', async () => {
  kit.registry.add({
    name: 'curious',
    version: '1.0.0',
    files: {
      'index.js':
        "module.exports = [__dirname, typeof __filename, process.env.NODE_ENV, require(__dirname + '/beside.js')];",
      'beside.js': "module.exports = 'beside';",
    },
  });
  const code = "import curious from 'curious'; export default [...curious, new URL('x', import.meta.url).href];";
  expect(await kit.load(code)).toEqual(['/', 'string', 'production', 'beside', 'file:///x']);
});

test('classes and functions keep their names', async () => {
  kit.registry.add({
    name: 'named',
    version: '1.0.0',
    files: { 'index.js': 'class Same {} exports.name = Same.name;' },
  });
  const code = "import { name } from 'named'; class Same {} export default [name, Same.name];";
  expect(await kit.load(code)).toEqual(['Same', 'Same']);
});

test('a package that strict mode does not allow is loaded all the same', async () => {
  kit.registry.add({
    name: 'sloppy',
    version: '1.0.0',
    files: {
      'index.js':
        "var package = require('./data'); with (package) { exports.found = inside; } undeclared = 1; exports.self = this === exports;",
      'data.js': 'exports.inside = 5;',
    },
  });
  expect(await kit.load("import all from 'sloppy'; export default all;")).toEqual({ found: 5, self: true });
});

test('a package that came inside of another is used there', async () => {
  kit.registry.add({
    name: 'bundles',
    version: '1.0.0',
    manifest: { dependencies: { within: '^1' }, bundleDependencies: ['within'] },
    files: {
      'index.js': "module.exports = require('within');",
      'node_modules/within/package.json': '{"name":"within","main":"lib/"}',
      'node_modules/within/lib/index.js': "module.exports = 'from inside';",
    },
  });
  expect(await kit.load("import found from 'bundles'; export default found;")).toBe('from inside');
});

test.each([
  ['exported/feature', 'feature for node'],
  ['exported/files/one.js', 'one'],
  ['exported/files/deep/two.js', 'two'],
  ['exported', 'imported'],
])('%s follows the exports of its package', async (path, expected) => {
  kit.registry.add({
    name: 'exported',
    version: '1.0.0',
    manifest: {
      exports: {
        '.': { types: './index.d.ts', import: './index.mjs', require: './index.cjs' },
        './feature': [{ browser: './no.js' }, { node: { default: './feature.js' } }],
        './files/*': './lib/*',
        './files/private/*': null,
      },
      imports: { '#inner': { node: './lib/inner.js' } },
    },
    files: {
      'index.mjs': "import inner from '#inner'; export default inner;",
      'index.cjs': "module.exports = 'required';",
      'feature.js': "module.exports = 'feature for node';",
      'lib/inner.js': "module.exports = 'imported';",
      'lib/one.js': "module.exports = 'one';",
      'lib/deep/two.js': "module.exports = 'two';",
      'lib/private/three.js': '',
    },
  });
  expect(await kit.load(`import found from '${path}'; export default found;`)).toBe(expected);
  expect(await kit.load("module.exports = require('exported');")).toBe('required');
  await expect(kit.load("import 'exported/files/private/three.js';")).rejects.toThrow(
    'has no "files/private/three.js"',
  );
  await expect(kit.load("import 'exported/lib/one.js';")).rejects.toThrow('has no "lib/one.js"');
});

test('files that a package requires with a function of createRequire are in the bundle', async () => {
  kit.registry.add({
    name: 'made-require',
    version: '1.2.3',
    manifest: {
      type: 'module',
      exports: './index.js',
      imports: { '#fonts/*': './fonts/*.cjs' },
      dependencies: { leaf: '*' },
    },
    files: {
      'index.js': [
        "import { createRequire as createRequire2 } from 'node:module'; import * as mod from 'module';",
        'const require = createRequire2(import.meta.url), other=mod.createRequire(import.meta.url);',
        "const load = { serif: () => other('#fonts/serif') };",
        'const failed = (name) => { try { return require(name) } catch (error) { return error.code } };',
        "export default [require('./package.json').version, load.serif(), require('leaf'), typeof require('node:path').join,",
        "  failed('not-there'), mod.createRequire(import.meta.url)('./fonts/serif.cjs'), typeof mod.builtinModules];",
        "export const list = require('./list.json');",
      ].join('\n'),
      'list.json': '[1, 2]',
      'fonts/serif.cjs': "module.exports = 'serif';",
    },
  });
  expect(await kit.load("import all, { list } from 'made-require'; export default [...all, list];")).toEqual([
    '1.2.3',
    'serif',
    'leaf@2.0.0',
    'function',
    'MODULE_NOT_FOUND',
    'serif',
    'object',
    [1, 2],
  ]);
});
