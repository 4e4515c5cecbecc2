// limits: Token and user endpoints whose scopes, lifetimes and words the database cannot hold.
import { afterAll, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import {
  beginFlow,
  comeBack,
  type EvilProvider,
  json,
  newTokens,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';

const world = hostile();
const providers: EvilProvider[] = [];
afterAll(async () => {
  for (const provider of providers) await provider.stop();
});

const ANSWERS: [answer: object, scopes: string[]][] = [
  [{ scope: 'a b,c' }, ['a', 'b', 'c']],
  [{ scope: 'a\0b c' }, ['all']],
  [{ scope: 'a\ud800b c' }, ['all']],
  [{ scope: Array.from({ length: 30_000 }, (_, n) => `s${n}`).join(' ') }, ['all']],
  [{ scope: 'x'.repeat(200_000) }, ['all']],
  [{ expires_in: 1e300 }, ['all']],
  [{ expires_in: 1e12 }, ['all']],
  [{ expires_in: '1e-300' }, ['all']],
];

it('are accounts with what was asked for, and the list of them is shown', async () => {
  const { attacker } = world;
  await world.unharmed(async () => {
    for (const [answer] of ANSWERS) {
      const provider = await startEvilProvider(world, { token: () => json({ ...newTokens(), ...answer }) });
      providers.push(provider);
      const { state } = await beginFlow(attacker, provider.slug);
      const ended = await comeBack(world, { state, code: 'a-code' });
      expect([answer, ended.status]).toEqual([answer, 200]);
    }
    const listed = await attacker.api('GET', `/connected_accounts?limit=${ANSWERS.length}`);
    expect(listed.status).toBe(200);
    const found = (listed.body.data as { scopes: string[] }[]).map(({ scopes }) => scopes);
    expect(found.toReversed()).toEqual(ANSWERS.map(([, scopes]) => scopes));
  });
});

it('and a user endpoint that says why not in such words is told with what can be shown of them', async () => {
  const { attacker } = world;
  let isGood = true;
  const userinfo = () => json(isGood ? { sub: 'someone' } : { ok: false, error: 'token_revoked \0 \ud800' });
  const provider = await startEvilProvider(world, { userinfo });
  providers.push(provider);
  const { state } = await beginFlow(attacker, provider.slug);
  expect((await comeBack(world, { state, code: 'a-code' })).status).toBe(200);
  isGood = false;
  const [newest] = (await attacker.api('GET', '/connected_accounts?limit=1')).body.data as { id: string }[];
  const checked = await attacker.api('POST', `/connected_accounts/${newest?.id}/check`, {});
  expect([checked.status, checked.text]).toEqual([200, expect.stringContaining('token_revoked')]);
  expect((await attacker.api('GET', `/connected_accounts/${newest?.id}`)).status).toBe(200);
});
