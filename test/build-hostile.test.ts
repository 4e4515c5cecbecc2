import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildKitForFile } from './support/build-kit.ts';

const kit = buildKitForFile();
const outside = path.join(tmpdir(), `headwater-outside-${process.pid}`);
const secret = path.join(outside, 'secret.js');

beforeAll(async () => {
  // Where builds have their folders: other tests build at the same time.
  process.env['TMPDIR'] = outside;
  await mkdir(outside, { recursive: true });
  await writeFile(secret, 'module.exports = "secret";');
});
afterAll(() => rm(outside, { recursive: true, force: true }));

const importing = (name: string) => `import found from '${name}'; export default found;`;

async function refusal(name: string, limits?: Parameters<typeof kit.build>[1]): Promise<string> {
  const outcome = await kit.build(importing(name), limits);
  if (outcome.ok) throw new Error('It was built');
  return outcome.errors.map(({ message }) => message).join('\n');
}

test('install scripts are never run', async () => {
  const proof = path.join(outside, 'script-was-run');
  const script = `node -e "require('fs').writeFileSync('${proof}', '')"`;
  const scripts = { preinstall: script, install: script, postinstall: script, prepare: script };
  kit.registry.add({ name: 'scripted', version: '1.0.0', manifest: { scripts, hasInstallScript: true } });
  expect(await kit.load(importing('scripted'))).toBe('scripted@1.0.0');
  expect(existsSync(proof)).toBe(false);
});

test.each([
  'package/../../../escaped.js',
  '/escaped.js',
  'package/a/../../../../escaped.js',
  'package\\..\\escaped.js',
])('a tarball with the path %s is refused by the name of its package', async (entryPath) => {
  const name = `traversal-${entryPath.length}`;
  kit.registry.add({ name, version: '1.0.0', entries: [{ path: entryPath, content: 'bad' }] });
  const message = await refusal(name);
  expect(message).toContain(`Cannot resolve "${name}": ${name}@1.0.0: its archive cannot be used: the path`);
  expect(existsSync(path.join(tmpdir(), 'escaped.js'))).toBe(false);
});

test('a link in a tarball is not made, and what is behind it cannot be imported', async () => {
  kit.registry.add({
    name: 'linking',
    version: '1.0.0',
    entries: [
      { path: 'package/package.json', content: '{"name":"linking","version":"1.0.0"}' },
      { path: 'package/index.js', type: '2', linkTo: secret },
      { path: 'package/hard.js', type: '1', linkTo: secret },
      { path: 'package/folder', type: '2', linkTo: outside },
    ],
  });
  for (const name of ['linking', 'linking/hard.js', 'linking/folder/secret.js'])
    expect(await refusal(name)).toContain(`Cannot resolve "${name}"`);
});

test.each([
  ['as its main file', { main: path.relative('/a/packages/node_modules/x', '/') + secret }],
  ['as an absolute main file', { main: secret }],
  ['by its exports', { exports: `./../../../..${secret}` }],
])('a package that leads out of its folder %s does not get there', async (how, manifest) => {
  const name = `leading-out-${how.replaceAll(' ', '-')}`;
  const climb = { ...manifest, ...('main' in manifest ? { main: `../../../../../..${secret}` } : {}) };
  kit.registry.add({ name, version: '1.0.0', manifest: climb, files: { 'other.js': '' } });
  expect(await refusal(name)).toContain('no file to import');
});

test('a package that imports a file of the server gets an error instead', async () => {
  kit.registry.add(
    { name: 'reads-out', version: '1.0.0', files: { 'index.js': `module.exports = require('${secret}');` } },
    {
      name: 'climbs-out',
      version: '1.0.0',
      files: { 'index.js': `module.exports = require('../../../../../../../..${secret}');` },
    },
  );
  await expect(kit.load(importing('reads-out'))).rejects.toThrow(
    `Cannot find module '${secret}', imported by reads-out`,
  );
  await expect(kit.load(importing('climbs-out'))).rejects.toThrow('in climbs-out');
});

test.each([
  ['file', 'file:../../secret'],
  ['git', 'git+https://127.0.0.1/x.git'],
  ['http', 'http://127.0.0.1/x.tgz'],
  ['github', 'github:owner/name'],
  ['short', 'owner/name'],
  ['folder', '../x'],
])('a dependency of the kind %s is refused by name, with the way to it', async (kind, wanted) => {
  kit.registry.add(
    { name: `top-${kind}`, version: '1.0.0', manifest: { dependencies: { [`middle-${kind}`]: '^1' } } },
    { name: `middle-${kind}`, version: '1.0.0', manifest: { dependencies: { bad: wanted } } },
  );
  const trail = `top-${kind}@1.0.0 → middle-${kind}@1.0.0 → bad@${wanted}`;
  expect(await refusal(`top-${kind}`)).toBe(
    `Cannot resolve "top-${kind}": ${trail}: only versions in the registry can be used, no files, addresses or repositories`,
  );
});

test('a tree with too many packages is refused', async () => {
  for (let i = 0; i < 40; i++)
    kit.registry.add({ name: `chain-${i}`, version: '1.0.0', manifest: { dependencies: { [`chain-${i + 1}`]: '*' } } });
  kit.registry.add({ name: 'chain-40', version: '1.0.0' });
  expect(await refusal('chain-0', { maxPackages: 30 })).toContain('it needs more than 30 packages');
});

test('packages that need each other are placed once', async () => {
  kit.registry.add(
    {
      name: 'ping',
      version: '1.0.0',
      manifest: { dependencies: { pong: '*' } },
      files: { 'index.js': "require('pong'); exports.is = 'ping';" },
    },
    {
      name: 'pong',
      version: '1.0.0',
      manifest: { dependencies: { ping: '*' } },
      files: { 'index.js': "require('ping');" },
    },
  );
  expect(await kit.load(importing('ping'))).toEqual({ is: 'ping' });
});

test('what is too large is refused: a tarball, what it unpacks to, its number of files, the bundle', async () => {
  const noise = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * i * 31) % 251)).toString('base64');
  kit.registry.add(
    { name: 'bomb', version: '1.0.0', files: { 'index.js': `module.exports = '${'0'.repeat(5_000_000)}';` } },
    { name: 'heavy', version: '1.0.0', files: { 'index.js': `module.exports = '${noise}';` } },
    {
      name: 'crowd',
      version: '1.0.0',
      files: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}.js`, ''])),
    },
  );
  expect(await refusal('bomb', { maxUnpackedBytes: 1_000_000 })).toContain('bomb@1.0.0: it is too large unpacked');
  expect(await refusal('heavy', { maxTarballBytes: 100 })).toContain('heavy@1.0.0: it is larger than 100 bytes');
  expect(await refusal('crowd', { maxFiles: 50 })).toMatch(/crowd@1\.0\.0: .*files/);
  expect(await refusal('bomb', { maxBundleBytes: 1_000_000 })).toContain('the limit is 1000000');
});

test('a tarball that is not what the registry says it is, is not used', async () => {
  kit.registry.add(
    { name: 'forged', version: '1.0.0', dist: { integrity: `sha512-${'A'.repeat(86)}==` } },
    { name: 'unchecked', version: '1.0.0', dist: { integrity: undefined } },
    { name: 'no-archive', version: '1.0.0', entries: [] },
  );
  expect(await refusal('forged')).toContain('its checksum is not the one');
  expect(await refusal('unchecked')).toContain('it has no versions in the registry');
  expect(await refusal('no-archive')).toContain('no file to import');
});

test('a tarball is fetched at the registry, whatever address the registry names', async () => {
  kit.registry.add({
    name: 'elsewhere',
    version: '1.0.0',
    dist: { tarball: 'http://127.0.0.1:9/x/elsewhere-1.0.0.tgz' },
  });
  expect(await kit.load(importing('elsewhere'))).toBe('elsewhere@1.0.0');
});

test('a registry that does not answer ends the build at its time limit, and nothing is left of it', async () => {
  kit.registry.add({ name: 'slow', version: '1.0.0' });
  const before = await buildFolders();
  let release = (): void => undefined;
  kit.registry.hold = new Promise((resolve) => (release = resolve));
  try {
    expect(await refusal('slow', { buildMs: 1_500 })).toContain(
      'Cannot resolve "slow": the registry did not answer before',
    );
  } finally {
    kit.registry.hold = undefined;
    release();
  }
  expect(await buildFolders()).toEqual(before);
});

async function buildFolders(): Promise<string[]> {
  return (await readdir(outside)).filter((name) => name.startsWith('headwater-build-'));
}
