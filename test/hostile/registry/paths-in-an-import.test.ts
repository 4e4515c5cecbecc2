// builder: Paths of an import that lead out of it, and imports in its code that ask for files of the server.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';

const world = hostile();

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
    const { body } = await attacker.api('POST', '/registry/import', { files: { ...files, ...names }, scope: 'draft' });
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
