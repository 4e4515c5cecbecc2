// limits: Imports of an archive that unpacks to gigabytes, of one without end, of too many files, and of too many components.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { deflateRawSync, gzipSync } from 'node:zlib';

const world = hostile();

const start = (body: unknown) => world.attacker.api('POST', '/registry/import', body);
const component = `export default { name: 'N', version: '1.0.0', run() {} };`;
const many = (count: number, path: (n: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [path(n), component]));

it('is refused before anything of it is stored', async () => {
  await world.unharmed(async () => {
    // Two hundred megabytes of zeros, compressed to two hundred kilobytes.
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024)).toString('base64');
    const cut = gzipSync(Buffer.from('ustar'.repeat(1000))).subarray(0, 20);
    const nonsense = deflateRawSync(Buffer.alloc(1000)).toString('base64');
    const refusals = [
      await start({ archive: bomb }),
      await start({ archive: cut.toString('base64') }),
      await start({ archive: nonsense }),
      await start({ archive: '' }),
      await start({ files: many(1_001, (n) => `a/sources/s${n}/s${n}.mjs`) }),
      await start({ files: many(5_001, (n) => `a/common/${n}.mjs`) }),
      await start({ files: { 'a/sources/b/b.mjs': 'x'.repeat(7 * 1024 * 1024) } }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400, 413]);
    expect(refusals[0]?.text).toContain('unpacks to more than');
    expect(refusals.map(({ body }) => body.limit?.name)).toEqual([
      'maxImportBytes',
      undefined,
      undefined,
      undefined,
      'maxImportComponents',
      'maxFormFields', // more names than an object of a request may have
      'maxApiBodyBytes',
    ]);
  });
  const kept = await world.sql`select from registry_imports where account_id = ${world.attacker.id}`;
  expect(kept.length).toBe(0);
});
