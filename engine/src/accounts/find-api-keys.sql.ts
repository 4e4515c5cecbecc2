import type { KeyScope } from '@headwater/shared';
import type { Principal } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';
import { shownScopes } from './limited-scopes.ts';

interface Row {
  key_hash: Buffer;
  id: string;
  name: string;
  account_id: string;
  user_id: string;
  scopes: string[];
  resource: string | null;
}

/**
 * The principal of each hash, in the same order; undefined for an unknown, revoked or expired key.
 * This is the only query without a tenant: it finds the tenant.
 */
export async function findApiKeys(sql: Sql, keyHashes: readonly Buffer[]): Promise<(Principal | undefined)[]> {
  const rows = await sql<Row[]>`
    select key_hash, id, name, account_id, user_id, scopes, resource from api_keys
    where key_hash = any(${keyHashes.map((hash) => `\\x${hash.toString('hex')}`)}::text[]::bytea[]) and revoked_at is null
      and (expires_at is null or expires_at > now())`;
  const byHash = new Map(rows.map((row) => [row.key_hash.toString('hex'), principalOf(row)]));
  return keyHashes.map((hash) => byHash.get(hash.toString('hex')));
}

function principalOf({ id, name, account_id: accountId, user_id: userId, resource, ...row }: Row): Principal {
  const scopes: KeyScope[] = shownScopes(row.scopes);
  return {
    accountId,
    userId,
    keyId: id,
    keyName: name,
    ...(scopes.includes('full') ? {} : { scopes }),
    ...(resource === null ? {} : { resource }),
  };
}
