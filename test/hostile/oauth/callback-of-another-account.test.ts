// tenancy: Ending the neighbour's flow with one's own key, and beginning flows for the neighbour's accounts.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { accountIdsOf, beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);

it('the account is that of whoever began the flow, and of nobody else', async () => {
  const { attacker, neighbour } = world;
  const before = await accountIdsOf(neighbour);
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    const { state } = await beginFlow(neighbour, provider.slug);
    const headers = { authorization: `Bearer ${attacker.key}`, 'x-account-id': attacker.id };
    const ended = await comeBack(world, { state, code: 'a-code', account_id: attacker.id }, headers);
    expect(ended.status).toBe(200);
  });
  const made = (await accountIdsOf(neighbour)).filter((id) => !before.includes(id));
  expect(made).toHaveLength(rounds);
  expect(await accountIdsOf(attacker)).toEqual([]);
  const input = { app: provider.slug, connected_account_id: made[0] };
  expect((await attacker.api('POST', '/connected_accounts/oauth/start', input)).status).toBe(404);
});
