// process: A builtin that walks over 2^53 elements and hears no one: neither a timeout nor the end of its isolate.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('its process is ended, and what else ran there is run again', async () => {
  await world.limit({ runCpuMs: 300 });
  const [burnt, other] = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`export default { name: 'Other', version: '1', async run() {
      await new Promise((resolve) => setTimeout(resolve, 700));
      this.$emit('fine');
    } };`);
    return Promise.all([
      world.attack(`this.$emit('before'); await null; Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);`),
      world.run(id),
    ]);
  });
  expect(burnt.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
  expect(burnt.events).toEqual(['before']);
  expect(other.error).toBeUndefined();
  expect(other.events).toEqual(['fine']);
});
