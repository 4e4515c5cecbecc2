// process: A process that has been taken over and answers nothing at all.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is killed a second after the deadline of its run', async () => {
  const ran = await world.unharmed(() => runInForgedProcess('function attack() { for (;;); }', { wallMs: 2_000 }));
  expect(ran.outcome).toMatchObject({
    ok: false,
    innocent: false,
    fault: { code: 'WALL_LIMIT', limit: { name: 'httpRunWallMs', value: 2_000 } },
  });
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
