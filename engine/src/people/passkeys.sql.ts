import type { PasskeyCredential, PasskeyProof, PasskeyRecord, StoredPasskey } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';

export interface NewPasskey extends PasskeyCredential {
  id: string;
  personId: string;
  name: string;
}

interface Row {
  id: string;
  name: string;
  is_backed_up: boolean;
  transports: string[];
  created_ms: number;
  used_ms: number | null;
}

const columns = (sql: Sql | Transaction) => sql`
  id, name, is_backed_up, transports, extract(epoch from created_at)::float8 * 1000 as created_ms,
  extract(epoch from last_used_at)::float8 * 1000 as used_ms`;

function recordOf({ id, name, transports, ...row }: Row): PasskeyRecord {
  return {
    id,
    name,
    transports,
    isBackedUp: row.is_backed_up,
    createdAt: new Date(row.created_ms),
    ...(row.used_ms === null ? {} : { lastUsedAt: new Date(row.used_ms) }),
  };
}

/** Newest first. */
export async function readPasskeys(sql: Sql, personId: string): Promise<PasskeyRecord[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from passkeys where person_id = ${personId} order by created_at desc, id desc`;
  return rows.map(recordOf);
}

/** The ids that authenticators know, so that none makes a second passkey of the person. */
export async function readCredentials(
  sql: Sql,
  personId: string,
): Promise<{ credentialId: Uint8Array; transports: string[] }[]> {
  return sql<{ credentialId: Uint8Array; transports: string[] }[]>`
    select credential_id as "credentialId", transports from passkeys where person_id = ${personId}
    order by created_at, id`;
}

export async function findPasskey(sql: Sql, credentialId: Uint8Array): Promise<StoredPasskey | undefined> {
  const [row] = await sql<{ id: string; person_id: string; public_key: Uint8Array; sign_count: number }[]>`
    select id, person_id, public_key, sign_count::float8 as sign_count
    from passkeys where credential_id = ${credentialId}`;
  if (row === undefined) return undefined;
  return { id: row.id, personId: row.person_id, publicKey: row.public_key, signCount: row.sign_count };
}

export async function countPasskeys(tx: Transaction, personId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from passkeys where person_id = ${personId}`;
  return row?.count ?? 0;
}

/** Undefined where a person has this one already. */
export async function insertPasskey(tx: Transaction, passkey: NewPasskey): Promise<PasskeyRecord | undefined> {
  const { id, personId, name, credentialId, publicKey, signCount, transports, isBackedUp } = passkey;
  const [row] = await tx<Row[]>`
    insert into passkeys (id, person_id, credential_id, public_key, sign_count, transports, name, is_backed_up)
    values (${id}, ${personId}, ${credentialId}, ${publicKey}, ${signCount}, ${transports}::text[], ${name},
      ${isBackedUp})
    on conflict (credential_id) do nothing returning ${columns(tx)}`;
  return row && recordOf(row);
}

export async function updatePasskeyName(
  sql: Sql,
  personId: string,
  id: string,
  name: string,
): Promise<PasskeyRecord | undefined> {
  const [row] = await sql<Row[]>`
    update passkeys set name = ${name} where person_id = ${personId} and id = ${id} returning ${columns(sql)}`;
  return row && recordOf(row);
}

/** Answers whether it was one of the person. */
export async function deletePasskey(sql: Sql, personId: string, id: string): Promise<boolean> {
  return (await sql`delete from passkeys where person_id = ${personId} and id = ${id} returning id`).length > 0;
}

/**
 * Answers false if it was removed meanwhile, or if the count went backwards: then a copy of the
 * key signs somewhere else. Two answers with the same count find one place only, on any node.
 */
export async function usePasskey(
  tx: Transaction,
  { id, signCount, isBackedUp }: PasskeyProof & { id: string },
): Promise<boolean> {
  const rows = await tx`
    update passkeys set sign_count = ${signCount}, is_backed_up = ${isBackedUp}, last_used_at = now()
    where id = ${id} and (sign_count < ${signCount} or (sign_count = 0 and ${signCount}::int8 = 0)) returning id`;
  return rows.length > 0;
}
