// limits: A loop at the top level that waits until the component has been described, and runs when it is loaded to be run.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time of the run', async () => {
  await world.limit({ runCpuMs: CPU_LIMIT.limit.value });
  const ran = await world.unharmed(async () => world.run(await deployLoop(1_500)));
  expect(ran.error).toMatchObject(CPU_LIMIT);
});

/**
 * If saving takes longer than the wait, `describe` already runs the loop; then the wait is too
 * short.
 */
async function deployLoop(waitMs: number): Promise<string> {
  const at = Date.now() + waitMs;
  const component_code = `if (Date.now() > ${at}) for (;;);
    export default { name: 'Late', version: '1', run() {} };`;
  const deployed = await world.attacker.api('POST', '/sources', { component_code });
  if (deployed.status !== 200) return deployLoop(waitMs * 3);
  await eventually(() => Date.now() > at, { what: 'the moment of the attack', timeoutMs: waitMs + 1_000 });
  return deployed.body.data.id as string;
}
