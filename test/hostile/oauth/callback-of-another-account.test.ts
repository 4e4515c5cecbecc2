// tenancy: Ending the neighbour's flow with one's own key, and beginning flows for the neighbour's accounts.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { accountCountOf, accountIdsOf, beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);

it('the account is that of whoever began the flow, and of nobody else', async () => {
  const { attacker, neighbour } = world;
  const before = await accountCountOf(world, neighbour);
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    const { state } = await beginFlow(neighbour, provider.slug);
    const headers = { authorization: `Bearer ${attacker.key}`, 'x-account-id': attacker.id };
    const ended = await comeBack(world, { state, code: 'a-code', account_id: attacker.id }, headers);
    expect(ended.status).toBe(200);
  });
  expect(await accountCountOf(world, neighbour)).toBe(before + rounds);
  expect(await accountIdsOf(attacker)).toEqual([]);
  const input = { app: provider.slug, connected_account_id: (await accountIdsOf(neighbour))[0] };
  expect((await attacker.api('POST', '/connected_accounts/oauth/start', input)).status).toBe(404);
});
