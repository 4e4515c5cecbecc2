import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { trimCache } from '../sandbox-runtime/src/build/trim-cache.ts';
import { buildKitForFile, oneFile } from './support/build-kit.ts';
import { eventually } from './support/eventually.ts';

const kit = buildKitForFile();
const importing = (name: string) => `import found from '${name}'; export default found;`;

async function tarballs(): Promise<string[]> {
  const folder = path.join(kit.cacheDir, 'tarballs');
  return (await readdir(folder)).map((name) => path.join(folder, name));
}

test('what one tenant fetched is not fetched again for another', async () => {
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
  await trimCache(kit.cacheDir, 0);
  expect(await tarballs()).toEqual([]);
  expect(await kit.load(importing('kept'))).toBe('kept@1.0.0');
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
