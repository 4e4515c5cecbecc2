import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleRelative } from '../../compat/src/bundle-relative.ts';
import { findComponents, shuffle } from '../../compat/src/find-components.ts';
import { createPackageVersions } from '../../compat/src/package-versions.ts';
import { APP_TREE, type ComponentFolder, createComponentFolder } from '../support/component-folder.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';

const SEVERAL_FILES = {
  'app/app.app.mjs': `
export default {
  type: 'app', app: 'app',
  methods: {
    load(id) {
      // the line below is 7
      throw new RangeError('no item ' + id);
    },
  },
};`,
  'app/sources/new-item/new-item.mjs': `import app from '../../app.app.mjs';
export default {
  name: 'New item', version: '1',
  async run(event) {
    console.warn('looking', { id: event.id, tags: ['a'] });
    console.error(new Error('kept'));
    await null;
    app.methods.load(event.id);
  },
};`,
};

const sandbox = sandboxForFile();
let folder: ComponentFolder;
let tree: ComponentFolder;

beforeAll(async () => {
  [folder, tree] = await Promise.all([createComponentFolder(SEVERAL_FILES), createComponentFolder(APP_TREE)]);
});

afterAll(async () => {
  await folder.remove();
  await tree.remove();
});

async function bundleOf(root: string, file: string): Promise<string> {
  const bundle = await bundleRelative(root, file, createPackageVersions(root));
  if (!bundle.ok) throw new Error(bundle.message);
  return bundle.code;
}

describe('a component of several files', () => {
  it('fails with the author’s own files and lines, and no other frames', async () => {
    const code = await bundleOf(folder.path, 'app/sources/new-item/new-item.mjs');
    const { outcome } = await sandbox.run(code, { event: { id: 7 } });
    if (outcome.ok) throw new Error('The run was expected to fail');
    expect(outcome.fault.message).toBe('RangeError: no item 7');
    expect(outcome.fault.stack?.split('\n')).toEqual([
      'RangeError: no item 7',
      expect.stringMatching(/^ {4}at .*load \(app\/app\.app\.mjs:7:\d+\)$/),
      expect.stringMatching(/^ {4}at .*run \(app\/sources\/new-item\/new-item\.mjs:8:\d+\)$/),
    ]);
  });

  it('logs with level and structure', async () => {
    const code = await bundleOf(folder.path, 'app/sources/new-item/new-item.mjs');
    const { host } = await sandbox.run(code, { event: { id: 7 } });
    expect(host.logs).toMatchObject([
      { level: 'warn', message: "looking { id: 7, tags: [ 'a' ] }" },
      { level: 'error', message: expect.stringContaining('Error: kept') },
    ]);
  });
});

describe('the folder', () => {
  it('is searched for components, not for what helps them', async () => {
    const found = await findComponents(tree.path);
    expect(found.map((file) => path.basename(file))).toEqual([
      'tell.js',
      'throws.mjs',
      'broken.mjs',
      'new-storm.mjs',
      'typed.ts',
    ]);
  });

  it('is sampled in an order that the seed alone decides', () => {
    const paths = Array.from({ length: 40 }, (_, i) => `app/sources/${i}.mjs`);
    expect(shuffle(paths.toReversed(), 'a')).toEqual(shuffle(paths, 'a'));
    expect(shuffle(paths, 'a')).not.toEqual(shuffle(paths, 'b'));
    expect(shuffle(paths, 'a').toSorted()).toEqual(paths.toSorted());
  });
});

describe('a package import', () => {
  it.each([
    ['leftpad', 'leftpad@^1.2.0'],
    ['leftpad/sub.js', 'leftpad@^1.2.0/sub.js'],
    ['exact', 'exact@3.0.1'],
    ['any', 'any'],
    ['unlisted', 'unlisted'],
    ['@scope/unlisted/sub', '@scope/unlisted/sub'],
    ['leftpad@2.0.0', 'leftpad@2.0.0'],
    ['fs', 'fs'],
    ['fs/promises', 'fs/promises'],
    ['node:fs', 'node:fs'],
  ])('%s becomes %s', (specifier, pinned) => {
    const importer = path.join(tree.path, 'weather/sources/new-storm/new-storm.mjs');
    expect(createPackageVersions(tree.path).pin(specifier, importer)).toBe(pinned);
  });

  it('through require() stays visible to a builder', async () => {
    const required = await createComponentFolder({
      'a/sources/b.js': `const get = require('leftpad/get');\nmodule.exports = { name: 'b', version: '1', run() { get(); } };`,
      'a/package.json': JSON.stringify({ dependencies: { leftpad: '~2.1.0' } }),
    });
    expect(await bundleOf(required.path, 'a/sources/b.js')).toContain('require("leftpad@~2.1.0/get")');
    await required.remove();
  });
});
