// limits: Beginning flow after flow and ending none.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);

it('the oldest of one account make room, and those of others stay', async () => {
  const { attacker, neighbour, sql } = world;
  const theirs = await beginFlow(neighbour, provider.slug);
  const oldest = await beginFlow(attacker, provider.slug);
  let newest = oldest;
  await world.unharmed(async () => {
    for (let i = 0; i < 10; i++)
      await Promise.all(Array.from({ length: 15 }, () => beginFlow(attacker, provider.slug)));
    newest = await beginFlow(attacker, provider.slug);
  });
  const [row] = await sql`select count(*)::int as count from oauth_states where account_id = ${attacker.id}`;
  // Some at once may be counted by none of each other.
  expect(row?.['count']).toBeLessThanOrEqual(115);
  expect((await comeBack(world, { state: oldest.state, code: 'c' })).status).toBe(400);
  expect((await comeBack(world, { state: newest.state, code: 'c' })).status).toBe(200);
  expect((await comeBack(world, { state: theirs.state, code: 'c' })).status).toBe(200);
});
