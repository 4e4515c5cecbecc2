import { LIMITS, newId } from '@headwater/shared';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AccountContext } from '../../../engine/src/connections/account-context.ts';
import type { AuthOutcome } from '../../../engine/src/connections/resolve-auth.ts';
import { createAccountResolver } from '../../../engine/src/connections/share-resolves.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount } from '../../support/source-rows.ts';

let database: TestDatabase;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db
    .sql`insert into apps (id, slug, definition) values ('app_shared', 'shared', ${JSON.stringify(OAUTH_APP)})`;
  accountId = await insertAccount(database.db.sql);
});
afterAll(() => database.drop());

const OAUTH_APP = { slug: 'shared', name: 'Shared', authType: 'oauth2', fields: [] };
const tokens = (accessToken: string) =>
  JSON.stringify({ fields: {}, oauth: { accessToken, refreshToken: 'refresh', clientId: 'us', values: {} } });

/** Expired, while another node fetches a new token. */
async function addLeased(): Promise<string> {
  const id = newId('connectedAccount');
  await database.db.sql`
    insert into connected_accounts (id, account_id, user_id, app_id, credentials, scopes, expires_at, refresh_at, refresh_until)
    values (${id}, ${accountId}, ${accountId}, 'app_shared', ${tokens('old')}, '{}', now(), now(), now() + interval '1 minute')`;
  return id;
}

async function renew(id: string, token: string): Promise<void> {
  await database.db.sql`
    update connected_accounts set credentials = ${tokens(token)}, version = version + 1, refresh_until = null,
      expires_at = now() + interval '1 hour', refresh_at = now() + interval '45 minutes'
    where id = ${id}`;
}

/** Nothing is sealed here; a row that is read is opened. */
function resolverOf() {
  const counts = { reads: 0 };
  const sealer = {
    seal: (_: string, text: string) => text,
    open: (_: string, text: string) => {
      counts.reads += 1;
      return text;
    },
  };
  const ask = () => Promise.reject(new Error('The lease is another node’s'));
  const context: AccountContext = { sql: database.db.sql, sealer, ask, log: testLog };
  return { counts, resolver: createAccountResolver(context) };
}

const tokenOf = (outcome: AuthOutcome) =>
  outcome.ok ? outcome.account.credentials.oauth?.accessToken : outcome.message;

test('a hundred waiting callers look for the token as one, at growing intervals', async () => {
  const id = await addLeased();
  const { counts, resolver } = resolverOf();
  const all = Array.from({ length: 100 }, () => resolver.resolve(accountId, id));
  await sleep(3_200);
  await renew(id, 'new');
  expect(new Set((await Promise.all(all)).map(tokenOf))).toEqual(new Set(['new']));
  // At 0, 100, 300, 700, 1500, 3100 and 5100 ms, or later: every 100 ms it would be more than
  // thirty.
  expect(counts.reads).toBeGreaterThan(1);
  expect(counts.reads).toBeLessThanOrEqual(8);
});

test('the callers of one look go on a few at a time, also after a failed one', async () => {
  const id = await addLeased();
  await renew(id, 'new');
  const { resolver } = resolverOf();
  const goOn = async () => {
    let settled = 0;
    const ask = async () => {
      await resolver.resolve(accountId, id).catch(() => undefined);
      settled += 1;
    };
    const all = Array.from({ length: 100 }, ask);
    await all[0];
    await setImmediate();
    const first = settled;
    await Promise.all(all);
    return first;
  };
  expect(await goOn()).toBeLessThanOrEqual(3 * LIMITS.requestsAtOnce);
  await database.db.sql`update connected_accounts set credentials = 'no json' where id = ${id}`;
  expect(await goOn()).toBeLessThanOrEqual(3 * LIMITS.requestsAtOnce);
});

test('runs, which share one answer, go on before all of those', async () => {
  const id = await addLeased();
  await renew(id, 'new');
  const { resolver } = resolverOf();
  const order: string[] = [];
  const all = Array.from({ length: 50 }, () => resolver.resolve(accountId, id).then(() => order.push('client')));
  all.push(resolver.resolve(accountId, id, { goesFirst: true }).then(() => order.push('runs')));
  await Promise.all(all);
  expect(order.indexOf('runs')).toBeLessThanOrEqual(3 * LIMITS.requestsAtOnce);
});

test.each(['forget', 'forgetAll'] as const)('a caller after %s gets no answer from before it', async (what) => {
  const id = await addLeased();
  const { counts, resolver } = resolverOf();
  const before = resolver.resolve(accountId, id);
  await expect.poll(() => counts.reads).toBeGreaterThan(0);
  resolver[what](id);
  const after = Array.from({ length: 20 }, () => resolver.resolve(accountId, id));
  resolver[what](id);
  const later = resolver.resolve(accountId, id);
  await renew(id, 'new');
  expect(tokenOf(await before)).toBe('new');
  const reads = counts.reads;
  expect((await Promise.all([...after, later])).map(tokenOf)).toEqual(Array.from({ length: 21 }, () => 'new'));
  // One read for all later callers, begun after the previous one had ended.
  expect(counts.reads).toBe(reads + 1);
});

test('callers of different tokens do not share an answer', async () => {
  const id = await addLeased();
  await renew(id, 'theirs');
  const { resolver } = resolverOf();
  const other = await insertAccount(database.db.sql);
  const [mine, theirs] = await Promise.all([resolver.resolve(accountId, id), resolver.resolve(other, id)]);
  expect(mine.ok).toBe(true);
  expect(theirs).toEqual({ ok: false, message: expect.stringContaining('There is no connected account') });
});

test('the callers of a failed look all get its error, and the next one begins anew', async () => {
  const id = await addLeased();
  await renew(id, 'new');
  const { counts, resolver } = resolverOf();
  await database.db.sql`update connected_accounts set credentials = 'no json' where id = ${id}`;
  const failed = await Promise.allSettled([1, 2, 3].map(() => resolver.resolve(accountId, id)));
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(counts.reads).toBe(1);
  await renew(id, 'again');
  expect(tokenOf(await resolver.resolve(accountId, id))).toBe('again');
});
