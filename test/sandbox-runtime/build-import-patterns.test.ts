import { expect, test } from 'vitest';
import { bundleTree } from '../../sandbox-runtime/src/builder/packages/bundle-tree.ts';
import { UnpackedPackages } from '../../sandbox-runtime/src/builder/packages/unpacked-packages.ts';
import { buildKitForFile, oneFile } from '../support/build-kit.ts';

const kit = buildKitForFile();

/**
 * Publishes a package of the given files and answers its default export, made by the bundler and
 * loaded here.
 */
async function load(name: string, files: Record<string, string>, manifest: Record<string, unknown> = {}) {
  kit.registry.add({ name, version: '1.0.0', files, manifest });
  return (await kit.load(`import it from '${name}'; export default it;`)) as (given: string) => unknown;
}

const codeOf = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return [(error as { code: string }).code, (error as Error).message];
  }
};

test('files that a package requires by a pattern are bundled', async () => {
  const client = await load(
    'dialects',
    {
      'lib/index.js': [
        '/* é€😀 */ const other = "require(`./not/${here}`)"; // require(`./nor/${here}`)',
        '/* 😀 */ module.exports = (name) => require(/* which one */ `./dialects/${name}/index.js`);',
        "module.exports.short = (name) => [require('./dialects/' + name).name, require('../data/' + name + '.json').is];",
        'module.exports.other = other;',
      ].join('\r\n'),
      'lib/dialects/pg/index.js': "exports.name = require('../base.js') + 'pg';",
      'lib/dialects/my/index.js': "exports.name = require('../base.js') + 'my';",
      'lib/dialects/base.js': "module.exports = 'base ';",
      'data/pg.json': '{ "is": "data" }',
    },
    { main: 'lib/index.js' },
  );
  const { short, other } = client as unknown as Record<string, (name: string) => unknown>;
  expect([client('pg'), client('my')]).toEqual([{ name: 'base pg' }, { name: 'base my' }]);
  expect(short?.('pg')).toEqual(['base pg', 'data']);
  expect(other).toBe('require(`./not/${here}`)');
});

test('files that a package imports by a pattern are bundled', async () => {
  const locale = await load(
    'locales',
    {
      'index.mjs':
        'export default (name) => import(/* @vite-ignore */ "./locale/" + name + ".mjs").then((all) => all.default);',
      'locale/de.mjs': "export default 'Deutsch';",
    },
    { main: 'index.mjs' },
  );
  expect(await locale('de')).toBe('Deutsch');
  await expect(locale('fr')).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
});

test('a file that is missing throws where it is required', async () => {
  const find = await load('finds', {
    'index.js':
      "module.exports = (name) => require('./plugins/' + name); try { module.exports('a') } catch { module.exports.tried = true }",
  });
  expect(codeOf(() => find('b'))).toEqual(['MODULE_NOT_FOUND', "Cannot find module './plugins/b'"]);
  expect(find).toHaveProperty('tried', true);
});

test('files of other packages are not found, nor those above the package', async () => {
  kit.registry.add({ name: 'neighbour', version: '1.0.0', files: { 'secret.js': "module.exports = 'secret'" } });
  const find = await load(
    'climbs',
    { 'index.js': "module.exports = (name) => require('../' + name);" },
    { dependencies: { neighbour: '*' } },
  );
  expect(codeOf(() => find('neighbour/secret.js'))).toEqual([
    'MODULE_NOT_FOUND',
    "Cannot find module '../neighbour/secret.js'",
  ]);
});

test('a file without code that a pattern matches does not hide the other files', async () => {
  const make = await load('generator', {
    'index.js': "module.exports = (name) => require('./templates/' + name); module.exports.works = true;",
    'templates/class.js': 'class <%= name %> {',
  });
  expect(make).toHaveProperty('works', true);
  expect(codeOf(() => make('class.js'))).toEqual(['MODULE_NOT_FOUND', "Cannot find module './templates/class.js'"]);
});

test('more files than a pattern may mean are not looked for', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 2_001 }, (_, i) => [`many/${i}.cjs`, `module.exports = ${i};`]),
  );
  const find = await load('many', { ...files, 'index.js': "module.exports = (name) => require('./many/' + name);" });
  expect(codeOf(() => find('1.cjs'))).toEqual(['MODULE_NOT_FOUND', "Cannot find module './many/1.cjs'"]);
});

test('the own code of a component has to name each file', async () => {
  const outcome = await kit.build('export default (name) => import(`./lib/${name}.js`);');
  expect(outcome).toMatchObject({
    ok: false,
    errors: [{ message: expect.stringContaining('each file has to be named') }],
  });
});

test('the bundle does not depend on the files of this machine', async () => {
  const bundle = async (folder: string) => {
    const packages = new UnpackedPackages();
    const code = `exports.look = (x) => [require('${folder}' + x), import(\`${folder}\${x}\`)];`;
    packages.add('node_modules/looks', new Map([['index.js', Buffer.from(code)]]));
    const root = { ok: true, name: 'looks', version: '1.0.0', from: '' } as const;
    const component = oneFile("import { look } from 'looks'; export default look;");
    // Runs in this process, whose bundler may list folders.
    const outcome = await bundleTree(component, 'js', { roots: { looks: root }, packages: [] }, packages);
    return outcome.ok ? outcome.code.replaceAll(folder, 'FOLDER') : outcome.messages.map(({ text }) => text);
  };
  const outcomes = await Promise.all(['./pack', './nope', './docs/', './test/supp', '../../etc/host'].map(bundle));
  expect(outcomes[0]).toContain('MODULE_NOT_FOUND');
  expect(new Set(outcomes).size).toBe(1);
});
