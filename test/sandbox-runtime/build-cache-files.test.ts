import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CACHE_FOLDERS } from '../../sandbox-runtime/src/builder/packages/package-cache.ts';
import { createTrims, trimCache } from '../../sandbox-runtime/src/builder/trim-cache.ts';
import { buildKitForFile } from '../support/build-kit.ts';
import { eventually } from '../support/eventually.ts';

const kit = buildKitForFile();
const importing = (name: string) => `import found from '${name}'; export default found;`;

async function cacheFiles(folders: readonly string[] = CACHE_FOLDERS): Promise<string[]> {
  const lists = folders.map(async (folder) =>
    (await readdir(path.join(kit.cacheDir, folder))).map((name) => path.join(kit.cacheDir, folder, name)),
  );
  return (await Promise.all(lists)).flat().toSorted();
}

/** Registry's answers for the paths that end so are given by `answer`. */
function answering(end: string, answer: (response: ServerResponse, times: number) => boolean): void {
  let times = 0;
  kit.registry.instead = (asked, response) => asked.endsWith(end) && answer(response, ++times);
  onTestFinished(() => void (kit.registry.instead = undefined));
}

test('a file of the cache that is cut short, or of another form, is as good as none', async () => {
  kit.registry.add({ name: 'cut', version: '1.0.0' });
  expect(await kit.load(importing('cut'))).toBe('cut@1.0.0');
  const lists = await cacheFiles(['packuments', 'trees']);
  const whole = new Map(await Promise.all(lists.map(async (file) => [file, await readFile(file, 'utf8')] as const)));
  for (const broken of ['', '{"tags":{"latest', 'null', '[]', '{}'] as const) {
    for (const file of lists) await writeFile(file, broken);
    expect([broken, await kit.load(importing('cut'))]).toEqual([broken, 'cut@1.0.0']);
  }
  for (const field of ['integrity', 'dependencies', 'packages', 'dir', 'roots', 'bundled']) {
    for (const file of lists) await writeFile(file, (whole.get(file) ?? '').replaceAll(`"${field}":`, '"x":'));
    expect([field, await kit.load(importing('cut'))]).toEqual([field, 'cut@1.0.0']);
  }
});

test('lists that cannot be stored are made again; a package that cannot be stored is no fault of the code', async () => {
  kit.registry.add({ name: 'unstored', version: '1.0.0' }, { name: 'unstored-too', version: '1.0.0' });
  // A builder makes the folders once.
  expect(await kit.load(importing('unstored'))).toBe('unstored@1.0.0');
  const without = async (folders: string[]) => {
    for (const folder of CACHE_FOLDERS) await mkdir(path.join(kit.cacheDir, folder), { recursive: true });
    for (const folder of folders) await rm(path.join(kit.cacheDir, folder), { recursive: true });
  };
  await without(['packuments', 'trees']);
  expect(await kit.load(importing('unstored'))).toBe('unstored@1.0.0');
  await without(['tarballs']);
  await expect(kit.load(importing('unstored-too'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('they cannot be stored on the disk of this node (ENOENT)'),
    retryAfterSeconds: 10,
  });
  await without([]);
  expect(await kit.load(importing('unstored-too'))).toBe('unstored-too@1.0.0');
});

test('a package that the cache was cut down by since it was fetched is fetched once more', async () => {
  kit.registry.add({ name: 'early', version: '1.0.0' }, { name: 'late', version: '1.0.0' });
  let trims = 0;
  // The other package is in the cache by then, and is thrown away under the build.
  answering('/-/late-1.0.0.tgz', (response, times) => {
    if (times > 1) return false;
    const trim = async () => {
      const isStored = async () => (await cacheFiles(['tarballs'])).some((file) => file.endsWith('.tgz'));
      await eventually(isStored, { what: 'the other package to be stored' });
      await trimCache(kit.cacheDir, { maxBytes: 0, maxFiles: 0, trustMs: 600_000 });
      trims += 1;
      const answer = await fetch(`${kit.registry.url}late/-/late-1.0.0.tgz`);
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    void trim();
    return true;
  });
  await rm(path.join(kit.cacheDir, 'tarballs'), { recursive: true });
  await mkdir(path.join(kit.cacheDir, 'tarballs'));
  const code = "import early from 'early'; import late from 'late'; export default [early, late];";
  expect(await kit.load(code)).toEqual(['early@1.0.0', 'late@1.0.0']);
  expect(trims).toBe(1);
});

test('a download that breaks off is retried, and named if each try breaks off', async () => {
  kit.registry.add({ name: 'broken-off', version: '1.0.0' });
  let most = 1;
  const breakOff = (response: ServerResponse, times: number): boolean => {
    if (times > most) return false;
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('a beginning', () => response.destroy());
    return true;
  };
  answering('/-/broken-off-1.0.0.tgz', breakOff);
  expect(await kit.load(importing('broken-off'))).toBe('broken-off@1.0.0');
  most = Number.POSITIVE_INFINITY;
  for (const file of await cacheFiles(['tarballs'])) await rm(file);
  await expect(kit.load(importing('broken-off'))).rejects.toThrow(
    'The packages of the component cannot be had at the moment: the registry broke off its answer',
  );
});

test('a build that downloads more than it may is refused, and leaves nothing in the cache', async () => {
  const versions = Array.from({ length: 6 }, (_, i) => `1.0.${i}`);
  const KB = 1024;
  kit.registry.add({ name: 'used-by-others', version: '1.0.0' });
  for (const version of versions)
    kit.registry.add({ name: 'heavy', version, files: { 'index.js': '', noise: randomBytes(100 * KB) } });
  expect(await kit.load(importing('used-by-others'))).toBe('used-by-others@1.0.0');
  const before = await cacheFiles();
  const heavy = versions.map((version, i) => `import x${i} from 'heavy@${version}';`).join('');
  const refused = await kit.build(`${heavy} export default 1;`, { maxDownloadBytes: 350 * KB });
  expect(refused).toEqual({
    ok: false,
    errors: [
      { path: 'component_code', message: expect.stringContaining('the limit maxPackageDownloadBytes is 358400') },
    ],
    limit: { name: 'maxPackageDownloadBytes', value: 350 * KB, used: expect.any(Number) },
  });
  expect(!refused.ok && refused.limit?.used).toBeGreaterThan(350 * KB);
  expect(await cacheFiles()).toEqual(before);
  expect(await kit.build(`${heavy} export default 1;`, { maxDownloadBytes: 650 * KB })).toMatchObject({ ok: true });
});

test('lists of versions count for the downloads of a build, and a package counts once in all its places', async () => {
  const KB = 1024;
  kit.registry.add({ name: 'long-list', version: '1.0.0', manifest: { description: 'x'.repeat(300 * KB) } });
  expect(await kit.build(importing('long-list'), { maxDownloadBytes: 200 * KB })).toMatchObject({
    limit: { name: 'maxPackageDownloadBytes', value: 200 * KB },
  });
  kit.registry.add({ name: 'twice', version: '1.0.0', files: { 'index.js': '', noise: randomBytes(100 * KB) } });
  kit.registry.add({ name: 'twice', version: '2.0.0' });
  const needy = (name: string) => ({ name, version: '1.0.0', manifest: { dependencies: { twice: '1.0.0' } } });
  kit.registry.add(needy('needs-a'), needy('needs-b'), needy('needs-c'));
  const code = "import 'needs-a'; import 'needs-b'; import 'needs-c'; import 'twice@2.0.0'; export default 1;";
  expect(await kit.build(code, { maxDownloadBytes: 250 * KB })).toMatchObject({ ok: true });
});

test('the cache is trimmed before its time where builds have put much into it', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'headwater-trim-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const folder of CACHE_FOLDERS) await mkdir(path.join(dir, folder));
  const trims = createTrims(dir, () => undefined, { maxBytes: 40_960, maxFiles: 10, trustMs: 600_000 });
  const put = (name: string) => writeFile(path.join(dir, 'tarballs', name), Buffer.alloc(65_536));
  const isThere = (name: string) =>
    stat(path.join(dir, 'tarballs', name)).then(
      () => true,
      () => false,
    );
  const trimmed = async (name: string) => {
    await put(name);
    trims.start();
    await trims.ended();
    return !(await isThere(name));
  };
  expect(await trimmed('first')).toBe(true);
  trims.grew(10_240);
  expect(await trimmed('soon-after')).toBe(false);
  trims.grew(1);
  expect(await trimmed('after-much')).toBe(true);
  expect(await trimmed('soon-after-that')).toBe(false);
});
