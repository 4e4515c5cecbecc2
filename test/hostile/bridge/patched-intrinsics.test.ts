// bridge: Patched intrinsics of JSON, Promise, Reflect, Function and Date, left behind for the next run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `
export default { name: 'Patches', version: '1', props: { db: '$.service.db' }, async run({ patch, n }) {
  if (patch) {
    JSON.stringify = () => '"forged"'; JSON.parse = () => ({ forged: true });
    Promise.prototype.then = () => { throw new Error('patched') }; Promise.resolve = () => 1;
    Date.now = () => NaN; Reflect.apply = () => { throw new Error('patched') };
    Function.prototype.call = Function.prototype.apply = () => { throw new Error('patched') };
  }
  this.db.set('key', { real: true });
  this.$emit({ n, stored: this.db.get('key'), other: this.db.get('none') ?? null });
} };`;

it('neither run reads or says anything else', async () => {
  const ran = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(CODE);
    await world.run(id, { patch: true, n: 1 });
    return world.run(id, { n: 2 });
  });
  const stored = { real: true };
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual([
    { n: 1, stored, other: null },
    { n: 2, stored, other: null },
  ]);
});
