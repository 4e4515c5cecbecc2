// fairness: Components that take as long to bundle as one may, again and again, in as many builds as a node does at a time, by two accounts.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { makeTenant, type Tenant } from '../../support/hostile-tenant.ts';

const world = hostile();

/** So many imports that the bundler is stopped at its limit of time. */
const slow = (i: number) => Array.from({ length: 50_000 }, (_, k) => `import'p${i}-${k.toString(36)}';`).join('');
const small = (i: number) => `export default { name: 'Small ${i}', version: '1', run() {} };`;

it('the neighbour saves components beside them, not behind them, also where two accounts do it together', async () => {
  const { attacker, neighbour, server } = world;
  const other = await makeTenant(server, 'second attacker');
  let over = 0;
  const saveSlow = async (tenant: Tenant, i: number) => {
    const { status } = await tenant.api('POST', '/components', { component_code: slow(i) });
    over += 1;
    return status;
  };
  const saveSmall = async (i: number) => {
    const { status } = await neighbour.api('POST', '/components', { component_code: small(i) });
    expect(status).toBe(200);
  };
  await world.unharmed(async () => {
    over = 0;
    const first = saveSlow(attacker, 0);
    const flood = [first, saveSlow(attacker, 1)];
    // Both begin at once, where both may.
    await sleep(2_000);
    await saveSmall(0);
    expect(over).toBe(0);
    await sleep(4_000);
    flood.push(saveSlow(other, 2), saveSlow(other, 3));
    await first;
    // Its next one would have begun, and the other account's is under way.
    await saveSmall(1);
    expect(over).toBe(1);
    expect(await Promise.all(flood)).toEqual([400, 400, 400, 400]);
  });
});
