// tenancy: Coming to the OAuth callback with states that nobody was given: guessed, cut, repeated, huge, of other types.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { accountIdsOf, beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);

it('no code is used and no account is made', async () => {
  const { neighbour } = world;
  const { state } = await beginFlow(neighbour, provider.slug);
  const forged = [
    '',
    'x',
    state.slice(0, -1),
    `${state}x`,
    state.toUpperCase(),
    'A'.repeat(43),
    'A'.repeat(10_000),
    `${state}' or '1'='1`,
    '\0'.repeat(43),
    '%',
  ];
  await world.unharmed(async () => {
    for (const text of forged) {
      const answer = await comeBack(world, { state: text, code: 'a-code' });
      expect([text.slice(0, 50), answer.status]).toEqual([text.slice(0, 50), 400]);
    }
    for (const query of [
      'code=a-code',
      `state=${state}&state=${state}&code=a-code`,
      `state[]=${state}&code=a-code`,
      `state=x&state=${state}&code=a-code`,
    ]) {
      expect([query, (await comeBack(world, query)).status]).toEqual([query, 400]);
    }
  });
  expect(provider.tokenRequests()).toEqual([]);
  expect(await accountIdsOf(neighbour)).toEqual([]);
  // The flow of the neighbour was not ended by any of it.
  expect((await comeBack(world, { state, code: 'a-code' })).status).toBe(200);
  for (const id of await accountIdsOf(neighbour)) await neighbour.api('DELETE', `/connected_accounts/${id}`);
  provider.receiver.requests.length = 0;
});
