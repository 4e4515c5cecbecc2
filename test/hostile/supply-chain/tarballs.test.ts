import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readTar } from '../../../sandbox-runtime/src/builder/read-tar.ts';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import { tar, type TarEntry } from '../../support/package-registry.ts';

// builder: Headers of an archive that are thirty thousand records each, by the hundred: in a
// package, and in an import.
describe('pax-records', () => {
  const chain = supplyChain();

  const file = {
    path: 'package/sources/a/a.mjs',
    content: "export default { name: 'A', version: '1.0.0', run() {} };",
  };
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
});

// builder: A tarball of 400 kilobytes that unpacks to more than 400 megabytes.
describe('tarball-bomb', () => {
  const chain = supplyChain();

  it('is given up at the bound of a build', async () => {
    const member = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const tarball = Buffer.concat(Array.from({ length: 52 }, () => member));
    expect(tarball.length).toBeLessThan(500_000);
    await chain.publish({ name: 'bomb', version: '1.0.0', tarball });
    expect(refusedWith(await chain.importing('bomb'))).toBe(
      'Cannot resolve "bomb": bomb@1.0.0: it is too large unpacked',
    );
  });
});

// builder: Headers of a tarball that lie: sizes beyond the archive, broken pax records, a name of
// a megabyte.
describe('tarball-headers', () => {
  const chain = supplyChain();
  const file = { path: 'package/index.js', content: 'module.exports = 1;' };

  const HEADERS = [
    ['pax-size', 'x', '24 size=999999999999999\n', 'the archive ends in the middle of a file'],
    ['pax-length', 'x', '-5 path=x\n', 'a header of the archive is broken'],
    ['pax-climbing', 'x', '27 path=package/../../x.js\n', 'the path "package/../../x.js" leads out of the package'],
    ['pax-zeros', 'x', `${'0'.repeat(60_000)}1 `, 'a header of the archive is broken'],
    ['long-name', 'L', 'package/'.repeat(8_000), 'a path has more than 4096 characters'],
    ['longer-name', 'L', 'package/'.repeat(131_072), 'a header of the archive has more than 65536 bytes'],
  ] as const;

  it('are refused by the mistake of the archive', async () => {
    for (const [name, type, content] of HEADERS)
      await chain.publish({ name, version: '1.0.0', entries: [{ path: 'package/header', type, content }, file] });
    expect(await chain.refusals(...HEADERS.map(([name]) => name))).toEqual(
      HEADERS.map(
        ([name, , , reason]) => `Cannot resolve "${name}": ${name}@1.0.0: its archive cannot be used: ${reason}`,
      ),
    );
  });
});

// builder: Symbolic links, hard links and devices in a tarball, to a file of the server and to its
// folder.
describe('tarball-links', () => {
  const chain = supplyChain();

  it('makes no link, and there is nothing behind it to import', async () => {
    await chain.publish({
      name: 'linking',
      version: '1.0.0',
      entries: [
        { path: 'package/package.json', content: '{"name":"linking","version":"1.0.0"}' },
        { path: 'package/index.js', type: '2', linkTo: chain.secret },
        { path: 'package/hard.js', type: '1', linkTo: chain.secret },
        { path: 'package/device.js', type: '3' },
        { path: 'package/pipe.js', type: '6' },
        { path: 'package/folder', type: '2', linkTo: chain.outside },
        { path: 'package/folder/written.js', content: 'module.exports = 1;' },
      ],
    });
    const names = ['', '/hard.js', '/device.js', '/pipe.js', '/folder/secret.js'].map((path) => `linking${path}`);
    const refusals = await chain.refusals(...names);
    expect(refusals.map((reason) => reason.split(':')[0])).toEqual(names.map((name) => `Cannot resolve "${name}"`));
    await chain.expectUntouched();
  });
});

// builder: Names in a tarball that meet elsewhere: twice the same, in other case, in two forms of
// Unicode, of Object.prototype.
describe('tarball-names', () => {
  const chain = supplyChain();

  it('keeps them apart as they are spelt, and the last of two that are the same counts', async () => {
    const entry = (path: string, value: string) => ({
      path: `package/${path}`,
      content: `module.exports = '${value}';`,
    });
    const index = `module.exports = ['./twice.js', './Case.js', './case.js', './\u00e9.js', './e\u0301.js', './__proto__.js',
    './constructor'].map((name) => { try { return load[name](); } catch (error) { return error.code; } });
    function load() {} ;`;
    const loads = [
      './twice.js',
      './Case.js',
      './case.js',
      './\u00e9.js',
      './e\u0301.js',
      './__proto__.js',
      './constructor',
    ]
      .map((name) => `load['${name}'] = () => require('${name}');`)
      .join('\n');
    await chain.publish({
      name: 'names',
      version: '1.0.0',
      entries: [
        {
          path: 'package/package.json',
          content: '{"name":"names","version":"1.0.0","__proto__":{"main":"./twice.js"}}',
        },
        { path: 'package/index.js', content: `${loads}\n${index}` },
        entry('twice.js', 'first'),
        entry('twice.js', 'last'),
        entry('Case.js', 'upper'),
        entry('case.js', 'lower'),
        entry('\u00e9.js', 'composed'),
        entry('e\u0301.js', 'decomposed'),
        entry('__proto__.js', 'own'),
      ],
    });
    expect((await chain.importing('names')).events).toEqual([
      { found: ['last', 'upper', 'lower', 'composed', 'decomposed', 'own', 'MODULE_NOT_FOUND'] },
    ]);
  });
});

// builder: A registry's list that names an address on the server's own network as the place of a
// tarball.
describe('tarball-on-another-server', () => {
  const chain = supplyChain();

  it('is fetched at the registry, and no other server is asked', async () => {
    const asked: string[] = [];
    const inner = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    const { port } = inner.address() as AddressInfo;
    const places = [`http://127.0.0.1:${port}/elsewhere-1.0.0.tgz`, 'file:///etc/elsewhere-1.0.0.tgz'];
    try {
      for (const [index, tarball] of places.entries()) {
        await chain.publish({ name: `elsewhere-${index}`, version: '1.0.0', dist: { tarball } });
        const { refused, events } = await chain.importing(`elsewhere-${index}`);
        expect(refused?.errors[0]?.message ?? events[0].found).toMatch(/elsewhere-\d@1\.0\.0/);
      }
    } finally {
      await new Promise((resolve) => inner.close(resolve));
    }
    expect(asked).toEqual([]);
  });
});

// builder: Paths in a tarball that lead out of the package: climbing, absolute, with backslashes.
describe('tarball-paths', () => {
  const chain = supplyChain();

  it('are refused by the name of the package, and nothing is written', async () => {
    const paths: Record<string, string> = {
      'path-climbs': `package/../../../../../..${chain.outside}/escaped.js`,
      'path-is-absolute': `${chain.outside}/escaped.js`,
      'path-climbs-inside': 'package/a/../../../escaped.js',
      'path-with-backslashes': 'package\\..\\escaped.js',
    };
    for (const [name, path] of Object.entries(paths))
      await chain.publish({ name, version: '1.0.0', entries: [{ path, content: 'bad' }] });
    expect(await chain.refusals(...Object.keys(paths))).toEqual(
      Object.entries(paths).map(
        ([name, path]) =>
          `Cannot resolve "${name}": ${name}@1.0.0: its archive cannot be used: the path ${JSON.stringify(path)} leads out of the package`,
      ),
    );
    await chain.expectUntouched();
  });
});

// builder: A small tarball with more than a hundred thousand files.
describe('tarball-with-endless-files', () => {
  const chain = supplyChain();

  it('is given up at the bound of a build', async () => {
    const entries = Array.from({ length: 1_000 }, (_, i) => ({ path: `package/${i}.js` }));
    // Without the two empty blocks that end an archive, so that another can follow.
    const member = gzipSync(tar(entries).subarray(0, -1_024));
    await chain.publish({
      name: 'crowd',
      version: '1.0.0',
      tarball: Buffer.concat(Array.from({ length: 105 }, () => member)),
    });
    expect(refusedWith(await chain.importing('crowd'))).toMatch(/^Cannot resolve "crowd": crowd@1\.0\.0: .* files$/);
  });
});
