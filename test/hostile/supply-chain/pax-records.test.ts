// builder: Headers of an archive that are thirty thousand records each, by the hundred: in a package, and in an import.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readTar } from '../../../sandbox-runtime/src/builder/read-tar.ts';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import { tar, type TarEntry } from '../../support/package-registry.ts';

const chain = supplyChain();

const file = { path: 'package/sources/a/a.mjs', content: "export default { name: 'A', version: '1.0.0', run() {} };" };
const RECORDS = ['2 ', '7 path=', '9 size=9\n'];
const hundreds = (record: string): TarEntry[] => {
  const content = record.repeat(Math.floor(65_536 / record.length));
  return [...Array.from({ length: 150 }, () => ({ path: 'header', type: 'x', content })), file];
};
const REASON = 'a header of the archive has more than 100 records';

it('are refused at the first of them', async () => {
  for (const [i, record] of RECORDS.entries()) {
    const tarball = gzipSync(tar(hundreds(record)));
    expect(tarball.length).toBeLessThan(300_000);
    const name = `pax-records-${i}`;
    await chain.publish({ name, version: '1.0.0', tarball });
    expect(refusedWith(await chain.importing(name))).toBe(
      `Cannot resolve "${name}": ${name}@1.0.0: its archive cannot be used: ${REASON}`,
    );
    const archive = { archive: tarball.toString('base64'), scope: 'draft' };
    const refused = await chain.world.unharmed(() => chain.world.attacker.api('POST', '/registry/import', archive));
    expect([refused.status, refused.body.detail]).toEqual([400, `archive cannot be unpacked: ${REASON}`]);
  }
});

it('are not those of an archiver that says all that it knows of a file', () => {
  const known = Array.from({ length: 98 }, (_, i) => `24 SCHILY.xattr.${String(i).padStart(2, '0')}=abcd\n`);
  const content = [...known, '13 mtime=1.5\n', '18 path=a/long.js\n'].join('');
  const archive = tar([{ path: 'header', type: 'x', content }, file]);
  expect([...readTar(archive, 10)].map((entry) => entry?.path)).toEqual([undefined, 'long.js']);
});
