// database: Hundreds who ask for the credentials of an account at once, whose new token is always just being fetched.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { accountIdsOf, beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
const provider = evilProvider(world);
const REQUESTS = 300;
const CHECKS = 20;
const WAITED_MS = 4_000;
/**
 * Each of them reads the account once before it waits, and others attack meanwhile. Looking ten
 * times a second, they made thousands.
 */
const MAX_SCANS = 1_500;

/** How often the table of connected accounts was looked at. */
async function scans(): Promise<number> {
  const [row] = await world.sql<{ count: number }[]>`
    select (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::float8 as count
    from pg_stat_user_tables where relname = 'connected_accounts'`;
  return row?.count ?? 0;
}

it('wait as one, and the database has time for others', async () => {
  const { attacker, neighbour, sql } = world;
  const { state } = await beginFlow(attacker, provider.slug);
  expect((await comeBack(world, { state, code: 'a-code' })).status).toBe(200);
  const [id = ''] = await accountIdsOf(attacker);
  await world.unharmed(async () => {
    const asked = provider.tokenRequests().length;
    // As if another node had gone away while it fetched one.
    await sql`
      update connected_accounts set expires_at = now(), refresh_at = now(), refresh_until = now() + interval '1 minute'
      where id = ${id}`;
    const before = await scans();
    const gets = Array.from({ length: REQUESTS }, () => attacker.api('GET', `/accounts/${id}?include_credentials=1`));
    const checks = Array.from({ length: CHECKS }, () => attacker.api('POST', `/connected_accounts/${id}/check`));
    await sleep(WAITED_MS);
    expect((await neighbour.api('GET', '/connected_accounts')).status).toBe(200);
    expect((await scans()) - before).toBeLessThan(MAX_SCANS);
    await sql`update connected_accounts set refresh_until = null where id = ${id}`;
    const got = await Promise.all(gets);
    expect(new Set(got.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(got.map(({ body }) => body.data.credentials.oauth_access_token)).size).toBe(1);
    for (const { status } of await Promise.all(checks)) expect(status).toBe(200);
    expect(provider.tokenRequests().length - asked).toBe(1);
  });
});
