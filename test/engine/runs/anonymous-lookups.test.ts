import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

/*
 * Lookups that any client can cause without a valid key. The tables are locked, so every lookup
 * waits. The number of waiting connections shows how many run at once.
 */

const REQUESTS = 300;
const LOOKS_AT_ONCE = 2;

let headwater: Headwater;

beforeAll(async () => {
  headwater = await startHeadwater();
});
afterAll(() => headwater.stop());

const ask = async (path: string, headers = {}) => (await fetch(headwater.url + path, { headers })).status;

const waitingFor = (table: string) => headwater.sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${table}%`}
    and pid <> pg_backend_pid()`;

it('API keys that are none are looked up together, over one connection', async () => {
  const askWithKeys = (path: string) =>
    Array.from({ length: REQUESTS }, (_, nth) =>
      ask(path, { authorization: `Bearer hw_${crypto.randomUUID()}_${nth}` }),
    );
  const { asked } = await headwater.sql.begin(async (tx) => {
    await tx`lock table api_keys in access exclusive mode`;
    const all = askWithKeys('/v1/users/me');
    await eventually(async () => (await waitingFor('api_keys')).length > 0);
    // When all of these are answered, the earlier requests have arrived.
    expect(new Set(await Promise.all(askWithKeys('/nothing')))).toEqual(new Set([404]));
    expect(await waitingFor('api_keys')).toHaveLength(1);
    return { asked: all };
  });
  expect(new Set(await Promise.all(asked))).toEqual(new Set([401]));
});

it.each([
  ['resume links', 'execution_waits', (random: string) => `/resume/ex_${random}/1-1-${'x'.repeat(32)}`],
  ['cancel links', 'execution_waits', (random: string) => `/cancel/ex_${random}/1-1-${'x'.repeat(32)}`],
  ['states of OAuth flows', 'oauth_states', (random: string) => `/oauth/callback?code=1&state=${random}`],
])('%s that are none are looked up a few at a time, and others are served', async (_, table, pathOf) => {
  const { asked } = await headwater.sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`;
    const all = Array.from({ length: REQUESTS }, () => ask(pathOf(randomBytes(32).toString('base64url'))));
    await eventually(async () => (await waitingFor(table)).length >= LOOKS_AT_ONCE);
    expect((await headwater.api('GET', '/users/me')).status).toBe(200);
    // Those, and what the node counts there from time to time.
    expect((await waitingFor(table)).length).toBeLessThanOrEqual(LOOKS_AT_ONCE + 2);
    return { asked: all };
  });
  for (const status of await Promise.all(asked)) expect([400, 404]).toContain(status);
});
