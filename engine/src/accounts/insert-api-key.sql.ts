import type { KeyScope } from '@headwater/shared';
import type { Sql, Transaction } from '../db/database.ts';
import { storedScopes } from './limited-scopes.ts';

export interface ApiKeyRow {
  id: string;
  accountId: string;
  userId: string;
  name: string;
  hash: Uint8Array;
  hint: string;
  /** Default: `full`. */
  scopes?: readonly KeyScope[];
  /** Default: it does not expire. */
  expiresAt?: Date;
  /** It is the key of a portal link. Default false. */
  isOfPortal?: boolean;
  /** Default: all that its scopes reach. */
  resource?: string;
}

export async function insertApiKey(tx: Sql | Transaction, key: ApiKeyRow): Promise<Date> {
  const [row] = await tx<{ created_ms: number }[]>`
    insert into api_keys (id, account_id, user_id, name, key_hash, hint, scopes, expires_at, resource, of_portal)
    values (${key.id}, ${key.accountId}, ${key.userId}, ${key.name}, ${key.hash}, ${key.hint},
      ${storedScopes(key.scopes ?? ['full'], key.resource)}::text[],
      ${key.expiresAt?.toISOString() ?? null}::timestamptz, ${key.resource ?? null},
      ${key.isOfPortal ?? false})
    returning extract(epoch from created_at)::float8 * 1000 as created_ms`;
  return new Date(row?.created_ms ?? Date.now());
}
