// bridge: What makes texts of a thrown error answers objects, whose length is what the process would send of its memory.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const LENGTH = 12_000;

const PATCHES = [
  ['the function', 'globalThis.String = () => none;'],
  [
    'all that texts and lists have',
    `const texts = Object.getPrototypeOf('');
     for (const name of ['slice', 'split', 'startsWith', 'indexOf']) texts[name] = () => none;
     for (const name of ['filter', 'join', 'map']) Array.prototype[name] = () => none;`,
  ],
] as const;

it.each(PATCHES)(
  '%s: the error is told as it was thrown, and nothing of the memory of the process',
  async (_, patch) => {
    const ran = await world.unharmed(() =>
      world.attack(`
      const none = { length: 0, byteLength: ${LENGTH} };
      ${patch}
      throw new Error('as it was');`),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'as it was' });
    expect(ran.error?.stack?.length ?? 0).toBeLessThan(LENGTH);
  },
);
