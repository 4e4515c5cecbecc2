// bridge: Array, String and RegExp prototypes that throw or lie, while events, values and requests leave.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what is sent before is whole, and the rest is trouble of the run alone', async () => {
  await world.limit({ timerRunWallMs: 1_000 });
  const ran = await world.unharmed(() =>
    world.attack(`
const names = { Array: ['push', 'map', 'filter', 'join', 'some', 'includes', Symbol.iterator], RegExp: ['test', 'exec'], String: ['startsWith', 'split', 'replace', 'charCodeAt'] };
this.$emit({ list: [1, 2] }, { id: 'a', summary: 's' });
for (const kind of Object.keys(names)) for (let i = 0; i < names[kind].length; i++) globalThis[kind].prototype[names[kind][i]] = () => { throw new Error('patched'); };
try { this.$emit({ list: [3] }); } catch {}
try { await fetch('http://127.0.0.1:1/'); } catch {}
try { console.log('x', [1]); } catch {}
null.x;`),
  );
  expect(ran.events).toEqual([{ list: [1, 2] }]);
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
});
