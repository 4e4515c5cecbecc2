import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '@headwater/shared';
import { openPackageCache } from '../../sandbox-runtime/src/builder/packages/package-cache.ts';
import { createTrims, trimCache } from '../../sandbox-runtime/src/builder/trim-cache.ts';
import { buildKitForFile, oneFile } from '../support/build-kit.ts';
import { eventually } from '../support/eventually.ts';

const kit = buildKitForFile();
const importing = (name: string) => `import found from '${name}'; export default found;`;

const BOUNDS = { maxBytes: LIMITS.maxPackageCacheBytes, maxFiles: LIMITS.maxPackageCacheFiles, trustMs: 600_000 };
const HOUR_MS = 3_600_000;

/**
 * A cache of its own; `put`: a file in it that was used so long ago. `names`: of all files in it,
 * sorted.
 */
async function ownCache() {
  const dir = await mkdtemp(path.join(tmpdir(), 'headwater-trim-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const folder of ['tarballs', 'packuments', 'trees']) await mkdir(path.join(dir, folder));
  return {
    dir,
    async put(name: string, ageMs: number, bytes = 10) {
      await writeFile(path.join(dir, name), Buffer.alloc(bytes));
      const used = new Date(Date.now() - ageMs);
      await utimes(path.join(dir, name), used, used);
    },
    async names() {
      const all = await readdir(dir, { recursive: true, withFileTypes: true });
      const files = all.filter((entry) => entry.parentPath !== dir);
      return files.map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name))).toSorted();
    },
  };
}

async function tarballs(): Promise<string[]> {
  const folder = path.join(kit.cacheDir, 'tarballs');
  return (await readdir(folder)).map((name) => path.join(folder, name));
}

test('a package that one tenant fetched is not fetched again for another', async () => {
  kit.registry.add({ name: 'shared', version: '1.0.0' });
  const builder = kit.builder();
  const component = oneFile(importing('shared'));
  const first = await builder.build({ tenantId: 'o_one', component });
  kit.registry.requests.length = 0;
  const second = await builder.build({ tenantId: 'o_two', component });
  expect(second).toEqual(first);
  expect(kit.registry.requests).toEqual([]);
});

test('a new version is taken once the word on the old one is no longer trusted', async () => {
  kit.registry.add({ name: 'moving', version: '1.0.0' });
  expect(await kit.build(importing('moving'))).toMatchObject({ dependencies: { moving: '1.0.0' } });
  kit.registry.add({ name: 'moving', version: '1.1.0' });
  expect(await kit.build(importing('moving'))).toMatchObject({ dependencies: { moving: '1.0.0' } });
  expect(await kit.build(importing('moving'), { trustMs: 0 })).toMatchObject({ dependencies: { moving: '1.1.0' } });
});

test('a file of the cache that was changed is fetched anew', async () => {
  kit.registry.add({ name: 'tampered', version: '1.0.0' });
  expect(await kit.load(importing('tampered'))).toBe('tampered@1.0.0');
  const files = await tarballs();
  for (const file of files) await writeFile(file, Buffer.concat([await readFile(file), Buffer.from('x')]));
  expect(await kit.load(importing('tampered'))).toBe('tampered@1.0.0');
});

test('the cache is cut down to its size, the oldest first, and builds go on', async () => {
  kit.registry.add({ name: 'kept', version: '1.0.0' });
  expect(await kit.load(importing('kept'))).toBe('kept@1.0.0');
  await trimCache(kit.cacheDir, { ...BOUNDS, maxBytes: 0 });
  expect(await tarballs()).toEqual([]);
  expect(await kit.load(importing('kept'))).toBe('kept@1.0.0');
});

test('the registry’s lists are thrown away when they are no longer believed, and tarballs are not', async () => {
  const { dir, put, names } = await ownCache();
  for (const [folder, age] of [
    ['tarballs', 1_000 * HOUR_MS],
    ['packuments', 0],
    ['packuments', HOUR_MS],
    ['trees', 0],
    ['trees', HOUR_MS],
  ] as const)
    await put(`${folder}/${age}`, age);
  await trimCache(dir, BOUNDS);
  expect(await names()).toEqual(['packuments/0', 'tarballs/3600000000', 'trees/0']);
});

test('the files of the cache have a bound, and those used last are kept in any order of listing', async () => {
  const { dir, put, names } = await ownCache();
  for (let age = 0; age < 30; age++) await put(`tarballs/${String(age).padStart(2, '0')}`, age * HOUR_MS);
  await trimCache(dir, { ...BOUNDS, maxFiles: 4 });
  expect(await names()).toEqual(['tarballs/00', 'tarballs/01', 'tarballs/02', 'tarballs/03']);
});

test('a file counts as what it takes of the disk', async () => {
  const { dir, put, names } = await ownCache();
  await put('tarballs/a', 0, 1);
  await put('tarballs/b', HOUR_MS, 0);
  await put('tarballs/c', 2 * HOUR_MS, 4_097);
  await put('tarballs/d', 3 * HOUR_MS, 1);
  await trimCache(dir, { ...BOUNDS, maxBytes: 4 * 4_096 });
  expect(await names()).toEqual(['tarballs/a', 'tarballs/b', 'tarballs/c']);
  await trimCache(dir, { ...BOUNDS, maxBytes: 4 * 4_096 - 1 });
  expect(await names()).toEqual(['tarballs/a', 'tarballs/b']);
});

test('a file of a time to come goes first, and is not believed', async () => {
  const { dir, put, names } = await ownCache();
  const cache = openPackageCache(dir, BOUNDS.trustMs);
  const read = () => cache.readJson('packuments', 'forged', (value): value is object => typeof value === 'object');
  await cache.writeJson('packuments', 'forged', { made: 'up' });
  expect(await read()).toEqual({ made: 'up' });
  const [file = ''] = await names();
  const later = new Date(Date.now() + 1_000 * HOUR_MS);
  await utimes(path.join(dir, file), later, later);
  expect(await read()).toBeUndefined();
  await put('tarballs/forged', -1_000 * HOUR_MS);
  await put('tarballs/old', 1_000 * HOUR_MS);
  await trimCache(dir, { ...BOUNDS, maxFiles: 1 });
  expect(await names()).toEqual(['tarballs/old']);
});

test('a directory among the files is thrown away with all that is in it, and keeps nothing else there', async () => {
  const { dir, put, names } = await ownCache();
  await mkdir(path.join(dir, 'tarballs/0/deep/deeper'), { recursive: true });
  for (let n = 0; n < 50; n++) await put(`tarballs/0/deep/${n}`, 0);
  await mkdir(path.join(dir, 'trees/0'));
  await put('tarballs/1', HOUR_MS);
  await put('tarballs/2', 2 * HOUR_MS);
  await trimCache(dir, { ...BOUNDS, maxFiles: 1 });
  expect(await names()).toEqual(['tarballs/1']);
});

test.runIf(process.platform === 'linux')(
  'a directory that is deeper than any of the cache is thrown away, with few of its directories open at once',
  async () => {
    const { dir, names } = await ownCache();
    const DEPTH = 600;
    await mkdir(path.join(dir, 'tarballs', ...Array.from({ length: DEPTH }, () => 'd')), { recursive: true });
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const before = openFiles();
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, openFiles())));
    onTestFinished(() => clearInterval(watch));
    await trimCache(dir, { ...BOUNDS, maxFiles: 0 });
    expect(await names()).toEqual([]);
    expect(most).toBeGreaterThan(before);
    expect(most).toBeLessThan(before + 100);
  },
);

test('builds do not wait for the cache to be trimmed, and one trim does not begin while another goes on', async () => {
  const { dir, put, names } = await ownCache();
  const warnings: string[] = [];
  const trims = createTrims(dir, (_, message) => warnings.push(message), { ...BOUNDS, maxFiles: 0 });
  await put('tarballs/a', 0);
  trims.start();
  trims.start();
  expect(await names()).toEqual(['tarballs/a']);
  await trims.ended();
  expect(await names()).toEqual([]);
  await put('tarballs/b', 0);
  trims.start();
  await trims.ended();
  expect(await names()).toEqual(['tarballs/b']);
  const broken = createTrims(path.join(dir, 'missing'), (_, message) => warnings.push(message), BOUNDS);
  broken.start();
  await broken.ended();
  expect(warnings).toEqual(['the cache of packages could not be trimmed']);
});

test('files that are there by the ten thousand are looked at one after the other, and no longer than the node runs', async () => {
  const { dir, put } = await ownCache();
  for (let n = 0; n < 200; n++) await put(`tarballs/${n}`, 0);
  const waiting = () => process.getActiveResourcesInfo().filter((name) => name === 'FSReqPromise').length;
  const stopping = new AbortController();
  const trimming = trimCache(dir, { ...BOUNDS, maxFiles: 10, signal: stopping.signal });
  let most = 0;
  let isDone = false;
  const ended = trimming.finally(() => (isDone = true));
  while (!isDone) {
    most = Math.max(most, waiting());
    await setImmediate();
  }
  await ended;
  expect(most).toBeLessThanOrEqual(3);
  stopping.abort(new Error('This node stops'));
  await expect(trimCache(dir, { ...BOUNDS, signal: stopping.signal })).rejects.toThrow('This node stops');
});

test('two builds run at a time, and a tenant with many does not keep another waiting for all of them', async () => {
  const names = Array.from({ length: 6 }, (_, i) => `queued-${i}`);
  kit.registry.add(...[...names, 'queued-other'].map((name) => ({ name, version: '1.0.0' })));
  let release = (): void => undefined;
  kit.registry.hold = new Promise((resolve) => (release = resolve));
  kit.registry.requests.length = 0;
  const builder = kit.builder();
  const ended: string[] = [];
  const start = (tenantId: string, name: string) =>
    builder.build({ tenantId, component: oneFile(importing(name)) }).then(({ ok }) => ended.push(ok ? name : 'failed'));
  const builds = [...names.map((name) => start('o_many', name)), start('o_other', 'queued-other')];
  try {
    await eventually(async () => kit.registry.requests.length === 2, { what: 'two builds to ask the registry' });
  } finally {
    kit.registry.hold = undefined;
    release();
  }
  await Promise.all(builds);
  expect(ended.toSorted()).toEqual([...names, 'queued-other'].toSorted());
  expect(ended.indexOf('queued-other')).toBeLessThan(5);
});

test('one tenant cannot queue builds without end', async () => {
  kit.registry.add({ name: 'flood', version: '1.0.0' });
  const builder = kit.builder({ buildMs: 30_000 });
  const { promise, resolve: release } = Promise.withResolvers<void>();
  // None ends before all have come.
  kit.registry.hold = promise;
  let refused = 0;
  const many = Array.from({ length: 40 }, async () => {
    const building = builder.build({ tenantId: 'o_flood', component: oneFile(importing('flood')) });
    building.catch(({ code }: { code: string }) => (refused += code === 'RATE_LIMITED' ? 1 : 0));
    return building;
  });
  const settled = Promise.allSettled(many);
  try {
    await eventually(() => Promise.resolve(refused === 7), { what: 'those beyond the queue to be refused' });
  } finally {
    kit.registry.hold = undefined;
    release();
  }
  await builder.stop();
  const reasons = (await settled).flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as { code: string }).code] : [],
  );
  expect(reasons.filter((code) => code === 'RATE_LIMITED')).toHaveLength(7);
  expect(reasons.filter((code) => code !== 'RATE_LIMITED').every((code) => code === 'UNAVAILABLE')).toBe(true);
});

test('a component without packages is not kept waiting by builds', async () => {
  kit.registry.add({ name: 'held', version: '1.0.0' });
  let release = (): void => undefined;
  kit.registry.hold = new Promise((resolve) => (release = resolve));
  const held = [1, 2, 3].map(() => kit.build(importing('held')));
  expect(await kit.build('export default 1;')).toMatchObject({ ok: true, dependencies: {} });
  kit.registry.hold = undefined;
  release();
  for (const outcome of await Promise.all(held)) expect(outcome).toMatchObject({ ok: true });
});
