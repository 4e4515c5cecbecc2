import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AccountContext } from '../../../engine/src/connections/account-context.ts';
import type { ProviderRequest } from '../../../engine/src/connections/provider-request.ts';
import { createAccountResolver } from '../../../engine/src/connections/share-resolves.ts';
import { deleteConnectedAccount } from '../../../engine/src/connections/connected-accounts.sql.ts';
import { insertOAuthState } from '../../../engine/src/connections/oauth.sql.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount } from '../../support/source-rows.ts';

const DEFINITION = {
  slug: 'app',
  name: 'App',
  authType: 'oauth2',
  fields: [],
  oauth: {
    authorizeUrl: 'https://provider.example/a',
    tokenUrl: 'https://provider.example/token',
    revokeUrl: 'https://provider.example/revoke',
    scopes: [],
    tokenAuth: 'body',
    pkce: true,
  },
};
const OLD = { accessToken: 'A1', refreshToken: 'R1', clientId: 'us', values: {} };

let database: TestDatabase;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database.db;
  accountId = await insertAccount(sql);
  await sql`insert into apps (id, slug, definition) values ('app_x', 'app', ${JSON.stringify(DEFINITION)}::text::jsonb)`;
  await sql`insert into oauth_clients (app_id, owner, client_id) values ('app_x', ${accountId}, 'us')`;
});
afterAll(() => database.drop());

/** With a token that has ended. */
async function insertConnected(): Promise<string> {
  const id = newId('connectedAccount');
  const credentials = JSON.stringify({ fields: {}, oauth: OLD });
  await database.db.sql`
    insert into connected_accounts (id, account_id, user_id, app_id, credentials, scopes, client_owner, expires_at, refresh_at)
    values (${id}, ${accountId}, ${accountId}, 'app_x', ${credentials}, '{}', ${accountId}, now(), now())`;
  return id;
}

/**
 * A provider that returns new tokens; `meanwhile` happens before its answer arrives. Resolves with
 * the tokens that it was asked to revoke.
 */
async function refresh(id: string, meanwhile: () => Promise<unknown>): Promise<unknown[]> {
  const revoked: unknown[] = [];
  const context: AccountContext = {
    sql: database.db.sql,
    sealer: { seal: (_, text) => text, open: (_, text) => text },
    log: testLog,
    async ask(_, { url, body }: ProviderRequest) {
      if (url.pathname === '/revoke') revoked.push(body?.values['token']);
      else await meanwhile();
      return { ok: true, status: 200, body: { access_token: 'A2', refresh_token: 'R2', expires_in: 3600 } };
    },
  };
  await createAccountResolver(context).resolve(accountId, id);
  return revoked;
}

it('tokens that arrive for an account that was deleted meanwhile are revoked, and others are not', async () => {
  const { sql } = database.db;
  const deleted = await insertConnected();
  expect(await refresh(deleted, () => deleteConnectedAccount(sql, accountId, deleted))).toEqual(['R2']);
  const renewed = await insertConnected();
  const renew = () => sql`update connected_accounts set version = version + 1 where id = ${renewed}`;
  expect(await refresh(renewed, renew)).toEqual([]);
  expect(await refresh(await insertConnected(), async () => undefined)).toEqual([]);
});

it('a deletion answers the credentials that it found, also those of a refresh that it waited for', async () => {
  const { sql } = database.db;
  const id = await insertConnected();
  let deletion: ReturnType<typeof deleteConnectedAccount> | undefined;
  await sql.begin(async (tx) => {
    await tx`update connected_accounts set credentials = 'renewed', version = version + 1 where id = ${id}`;
    deletion = deleteConnectedAccount(sql, accountId, id);
    await eventually(async () => (await blockedBy(tx)).length === 1);
  });
  expect(await deletion).toEqual({ credentials: 'renewed' });
  expect(await deleteConnectedAccount(sql, accountId, id)).toBeUndefined();
});

it('flows that begin at the same time are counted one after the other', async () => {
  const { sql } = database.db;
  const flow = (n: number) => ({
    stateHash: Buffer.alloc(32, n),
    accountId,
    userId: accountId,
    appId: 'app_x',
    request: '',
    ttlSeconds: 600,
    maxOpen: 3,
  });
  await Promise.all(Array.from({ length: 30 }, (_, n) => insertOAuthState(sql, flow(n))));
  expect(await sql`select from oauth_states`).toHaveLength(3);
});
