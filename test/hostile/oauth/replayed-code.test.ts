// tenancy: Opening the same OAuth callback many times, one after the other and all at once.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { accountCountOf, beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);

it('the first one is answered, and the code is used once', async () => {
  const { attacker } = world;
  const before = { accounts: await accountCountOf(world, attacker), exchanges: provider.tokenRequests().length };
  let rounds = 0;
  const statuses = await world.unharmed(async () => {
    rounds++;
    const { state } = await beginFlow(attacker, provider.slug);
    const all = await Promise.all(Array.from({ length: 20 }, () => comeBack(world, { state, code: 'a-code' })));
    const late = await comeBack(world, { state, code: 'a-code' });
    return [...all, late].map(({ status }) => status).toSorted((a, b) => a - b);
  });
  expect(statuses).toEqual([200, ...Array.from({ length: 20 }, () => 400)]);
  expect(await accountCountOf(world, attacker)).toBe(before.accounts + rounds);
  expect(provider.tokenRequests()).toHaveLength(before.exchanges + rounds);
});
