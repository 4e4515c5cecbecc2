// secrets: A provider whose errors repeat what it was sent, and whose words are markup and control characters.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import {
  accountIdsOf,
  beginFlow,
  comeBack,
  type EvilProvider,
  json,
  newTokens,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';

const world = hostile();
let provider: EvilProvider;
let isRefusing = true;
beforeAll(async () => {
  provider = await startEvilProvider(world, {
    token: ({ body }) =>
      isRefusing
        ? json({ error: 'invalid_grant', error_description: `<script>alert(1)</script>\r\n\u001b[31m${body}` }, 400)
        : json(newTokens()),
    userinfo: () => json({ sub: '<img src=x onerror=alert(1)>' }),
  });
});
afterAll(() => provider.stop());

it('what is shown and stored holds neither', async () => {
  const { attacker, sql } = world;
  await world.unharmed(async () => {
    isRefusing = true;
    const failing = await beginFlow(attacker, provider.slug);
    const page = await comeBack(world, { state: failing.state, code: 'the-code-of-this-flow' });
    const verifier = provider.tokenRequests().at(-1)?.get('code_verifier') ?? '?';
    for (const secret of [provider.clientSecret, 'the-code-of-this-flow', verifier])
      expect(page.text).not.toContain(secret);
    expect(page.text).not.toMatch(/<script|\u001b/);
    expect(page.text).toContain('&lt;script&gt;');

    isRefusing = false;
    const working = await beginFlow(attacker, provider.slug);
    const done = await comeBack(world, { state: working.state, code: 'another-code' });
    expect(done.status).toBe(200);
    expect(done.text).not.toContain('<img');
    const [id = ''] = await accountIdsOf(attacker);
    const before = (await attacker.api('GET', `/accounts/${id}?include_credentials=1`)).body.data.credentials;
    isRefusing = true;
    await sql`update connected_accounts set refresh_at = now() where id = ${id}`;
    const refused = await attacker.api('GET', `/accounts/${id}?include_credentials=1`);
    expect(refused.status).toBe(422);
    const shown = await attacker.api('GET', `/accounts/${id}`);
    const [row] = await sql`select reason from connected_accounts where id = ${id}`;
    for (const text of [refused.text, shown.text, String(row?.['reason'])]) {
      expect(text).toContain('invalid_grant');
      for (const secret of [provider.clientSecret, before.oauth_refresh_token, before.oauth_access_token]) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
