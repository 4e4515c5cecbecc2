// builder: An import of a folder whose code has a megabyte of spaces where a pattern expects a quote, in several shapes.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';

const world = hostile();

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
