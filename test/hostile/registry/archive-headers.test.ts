// builder: Archives of an import whose header is a number with sixty thousand zeros, or a megabyte, and files of which every second byte is NUL.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { tar, type TarEntry } from '../../support/package-registry.ts';

const world = hostile();

const MEGABYTE = 1024 * 1024;
const PATH = 'a/sources/b/b.mjs';
const CODE = `export default { name: 'N', version: '1.0.0', run() {} };`;

const header = (content: string): TarEntry => ({ path: 'header', type: 'x', content });
const component: TarEntry = { path: PATH, content: CODE.replaceAll(/(?=.)/g, '\0') };

const start = (entries: TarEntry[]) =>
  world.attacker.api('POST', '/registry/import', {
    archive: gzipSync(tar(entries)).toString('base64'),
    scope: 'draft',
  });

it('are refused by what is wrong with them, or read in a time that goes with their length', async () => {
  await world.unharmed(async () => {
    const zeros = await start([header(`${'0'.repeat(60_000)}1 `), component]);
    expect([zeros.status, zeros.body.detail]).toEqual([
      400,
      'archive cannot be unpacked: a header of the archive is broken',
    ]);
    const large = await start([header('6 a=b\n'.repeat(MEGABYTE / 6)), component]);
    expect([large.status, large.body.detail]).toEqual([
      400,
      'archive cannot be unpacked: a header of the archive has more than 65536 bytes',
    ]);
    const files = Array.from({ length: 40 }, (_, n) => ({ path: `a/${n}.txt`, content: 'a\0'.repeat(MEGABYTE / 2) }));
    const { status, body } = await start([...files, component]);
    expect(status).toBe(200);
    const done = await eventually(async () => {
      const { body: now } = await world.attacker.api('GET', `/registry/imports/${body.data.id}`);
      return now.data.status === 'done' && now.data;
    });
    expect(done.components).toMatchObject([{ path: PATH, error: null, version: '1.0.0' }]);
  });
});
