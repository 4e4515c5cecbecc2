import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { registryCode, saveCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';
import { hostile } from '../../support/hostile.ts';
import { tar, type TarEntry } from '../../support/package-registry.ts';

// builder: Archives of an import whose header is a number with sixty thousand zeros, or a
// megabyte, and files of which every second byte is NUL.
describe('archive-headers', () => {
  const world = hostile({ ownAccounts: true });

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
});

// limits: Imports of an archive that unpacks to gigabytes, of one without end, of too many files,
// and of too many components.
describe('huge-import', () => {
  const world = hostile({ ownAccounts: true });

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
});

// fairness: As many imports of a thousand components as may wait, while the neighbour saves,
// imports and deploys.
describe('import-flood', () => {
  const world = hostile({ ownAccounts: true });

  it('keeps the builder busy, and the neighbour is served in his turn', async () => {
    const { attacker, neighbour } = world;
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [
        `a/sources/s${n}/s${n}.mjs`,
        `export default { name: 'S${n}', version: '1.0.0', run() {} };`,
      ]),
    );
    await world.unharmed(async () => {
      const started = [];
      for (let n = 0; n < 6; n++)
        started.push(await attacker.api('POST', '/registry/import', { files, scope: 'draft' }));
      expect(started.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
      const key = `${uniquePrefix()}-fair`;
      await saveCode(neighbour, registryCode(key, '1.0.0'));
      const own = await neighbour.api('POST', '/registry/import', {
        files: { 'b/sources/one/one.mjs': registryCode(`${key}-two`, '1.0.0') },
      });
      await eventually(
        async () => {
          const { body } = await neighbour.api('GET', `/registry/imports/${own.body.data.id}`);
          return body.data.status === 'done' && body.data.succeeded === 1;
        },
        { timeoutMs: 30_000 },
      );
      const { body } = await attacker.api('GET', `/registry/imports/${started[3]?.body.data.id}`);
      expect(body.data.status).toBe('running');
    });
    await world.sql`update registry_imports set ended_at = now() where account_id = ${attacker.id}`;
  });
});

// builder: Paths of an import that lead out of it, and imports in its code that ask for files of
// the server.
describe('paths-in-an-import', () => {
  const world = hostile({ ownAccounts: true });

  const component = (line: string) => `${line}
  export default { name: 'N', version: '1.0.0', run() { this.$emit(typeof found); } };`;

  it('is refused, or finds nothing', async () => {
    const { attacker } = world;
    await world.unharmed(async () => {
      for (const path of [
        '../x/sources/a/a.mjs',
        '/etc/sources/a.mjs',
        'a\\sources\\b.mjs',
        'a/./sources/b.mjs',
        'a//sources/b.mjs',
        'C:/sources/a.mjs',
        'a/sources/../../b.mjs',
      ]) {
        const { status } = await attacker.api('POST', '/registry/import', { files: { [path]: component('') } });
        expect([path, status]).toEqual([path, 400]);
      }
      const targets = [
        '../../../../../../etc/passwd',
        '../../../../package.json',
        '/etc/passwd',
        'file:///etc/passwd',
        '../../../engine/src/index.ts',
        '../__proto__/x.mjs',
      ];
      const files = Object.fromEntries(
        targets.map((target, n) => [`a/sources/s${n}/s${n}.mjs`, component(`import * as found from '${target}';`)]),
      );
      const names = { 'a/sources/__proto__/__proto__.mjs': component(''), 'a/sources/constructor.mjs': component('') };
      const { body } = await attacker.api('POST', '/registry/import', {
        files: { ...files, ...names },
        scope: 'draft',
      });
      const done = await eventually(
        async () => {
          const { body: now } = await attacker.api('GET', `/registry/imports/${body.data.id}`);
          return now.data.status === 'done' && now.data;
        },
        { timeoutMs: 60_000 },
      );
      expect(done).toMatchObject({ total: targets.length + 2, failed: targets.length, succeeded: 2 });
      expect(JSON.stringify(done)).not.toContain('root:');
    });
  });
});

// builder: An import of a folder whose code has a megabyte of spaces where a pattern expects a
// quote, in several shapes.
describe('spaces-after-import', () => {
  const world = hostile({ ownAccounts: true });

  const MEGABYTE = 1024 * 1024;
  const ROOM = MEGABYTE - 200;

  const component = (text: string) => `export default { name: 'N', version: '1.0.0', run() {} };\n/*${text}*/`;

  it('is read in a time that goes with its length, and what is larger than code may be is not', async () => {
    const { attacker } = world;
    const shapes = {
      bracket: `import (${' '.repeat(ROOM)}`,
      import: `import${' '.repeat(ROOM)}`,
      many: `import${' '.repeat(10_000)}`.repeat(100),
      require: `require${' '.repeat(ROOM / 2)}(${' '.repeat(ROOM / 2)}`,
      toolarge: `import${' '.repeat(MEGABYTE)}`,
    };
    const files = Object.fromEntries(
      Object.entries(shapes).map(([name, text]) => [`a/sources/${name}/${name}.mjs`, component(text)]),
    );
    await world.unharmed(async () => {
      const { body } = await attacker.api('POST', '/registry/import', { files, scope: 'draft' });
      const done = await eventually(
        async () => {
          const { body: now } = await attacker.api('GET', `/registry/imports/${body.data.id}`);
          return now.data.status === 'done' && now.data;
        },
        { timeoutMs: 60_000 },
      );
      const ended = done.components as { path: string; error: string | null }[];
      expect(ended.map(({ path, error }) => [path.split('/')[2], error])).toEqual([
        ...['bracket', 'import', 'many', 'require'].map((name) => [name, null]),
        ['toolarge', `The component has more than ${MEGABYTE} bytes`],
      ]);
    });
  });
});
