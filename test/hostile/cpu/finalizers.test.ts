// isolate: Finalizers that loop: V8 calls them when memory is freed, long after the run that registered them, in whichever run it is.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are never called, so no later run pays for them', async () => {
  const later = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      let kept;
      export default { name: 'Finalizers', version: '1', async run(event) {
        if (event.arm) {
          kept = new FinalizationRegistry(() => { for (;;); });
          for (let i = 0; i < 100; i++) kept.register({ i: new Array(100).fill(i) }, i);
          return;
        }
        let garbage = [];
        for (let i = 0; i < 200; i++) garbage = new Array(50_000).fill(i);
        this.$emit(garbage.length);
      } };`);
    await world.run(id, { arm: true });
    return [await world.run(id, {}), await world.run(id, {}), await world.run(id, {})];
  });
  expect(later.map((run) => run.error)).toEqual([undefined, undefined, undefined]);
});
