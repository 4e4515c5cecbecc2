import { describe, expect, it } from 'vitest';
import { accountCountOf, accountIdsOf, beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';
import { hostile } from '../../support/hostile.ts';

// tenancy: Making the OAuth callback send browsers to a stranger's page: other hosts in every
// spelling, scripts, parameters.
describe('open-redirect', () => {
  const world = hostile({ ownAccounts: true });
  const provider = evilProvider(world);

  const REDIRECTS = [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    ' //evil.example',
    'http://localhost@evil.example/',
    'http://localhost:80@evil.example/',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://user:password@localhost/',
    'https://localhost/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'http:/evil.example',
    'http:evil.example',
    '///evil.example',
    'evil.example',
    '',
  ];

  it('each is refused when the flow begins, and what the callback itself says is not a place to go', async () => {
    const { attacker } = world;
    await world.unharmed(async () => {
      for (const redirect of REDIRECTS) {
        const answer = await attacker.api('POST', '/connected_accounts/oauth/start', { app: provider.slug, redirect });
        const paths = answer.body.errors?.map(({ path }: { path: string }) => path);
        expect([redirect, answer.status, paths]).toEqual([redirect, 400, ['redirect']]);
      }
      const { state } = await beginFlow(attacker, provider.slug, { redirect: '/done' });
      const query = { state, error: 'no', redirect: 'https://evil.example', redirect_uri: 'https://evil.example' };
      const ended = await comeBack(world, query);
      expect(new URL(ended.headers.get('location') ?? '').origin).toBe(world.server.url);
      const unknown = await comeBack(world, { ...query, state: 'x' });
      expect([unknown.status, unknown.headers.get('location')]).toEqual([400, null]);
    });
  });
});

// tenancy: OAuth callbacks with forged states: guessed, cut, repeated, huge, of other types.
describe('forged-state', () => {
  const world = hostile({ ownAccounts: true });
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
});

// tenancy: Opening the same OAuth callback many times, one after the other and all at once.
describe('replayed-code', () => {
  const world = hostile({ ownAccounts: true });
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
});

// tenancy: Ending the neighbour's flow with one's own key, and beginning flows for the neighbour's
// accounts.
describe('callback-of-another-account', () => {
  const world = hostile({ ownAccounts: true });
  const provider = evilProvider(world);

  it('the connected account belongs to the account that began the flow', async () => {
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
});
