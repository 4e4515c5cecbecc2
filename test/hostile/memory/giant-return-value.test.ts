// bridge: A return value of a hundred megabytes, and one that never ends.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is never looked at', async () => {
  const { events } = await world.unharmed(async () => {
    const { id, ...source } = await world.attacker.deploy(`
      export default { name: 'Returns', version: '1', run({ endless }) {
        this.$emit('ran');
        if (!endless) return 'x'.repeat(100e6);
        return new Proxy([], { get: (_, key) => (key === 'then' ? undefined : endless), ownKeys() { for (;;); } });
      } };`);
    expect(source.endpoint).toBe('');
    expect((await world.run(id, { endless: false })).error).toBeUndefined();
    const last = await world.run(id, { endless: true });
    expect(last.error).toBeUndefined();
    return last;
  });
  expect(events).toEqual(['ran', 'ran']);
});
