import type { Sql, Transaction } from '../db/index.ts';

/** Names of the master keys that nodes seal with on this database, oldest first. */
export async function readEncryptionKeys(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from encryption_keys order by first_used_at, id`;
  return rows.map(({ id }) => id);
}

/**
 * Adds a name, unless there is one that `isKnown` refuses. Answers those: empty when the name is
 * there. Nodes that start together are judged one after the other, so of two that do not know each
 * other's keys exactly one is refused.
 */
export function claimEncryptionKey(sql: Sql, id: string, isKnown: (id: string) => boolean): Promise<string[]> {
  return sql.begin(async (tx) => {
    await tx`lock table encryption_keys in share row exclusive mode`;
    const unknown = (await readEncryptionKeys(tx)).filter((name) => !isKnown(name));
    if (unknown.length === 0) await tx`insert into encryption_keys (id) values (${id}) on conflict do nothing`;
    return unknown;
  });
}

/** Nothing is sealed with another key any more. */
export async function replaceEncryptionKeys(sql: Sql, id: string): Promise<void> {
  await sql.begin((tx) => [
    tx`delete from encryption_keys where id <> ${id}`,
    tx`insert into encryption_keys (id) values (${id}) on conflict do nothing`,
  ]);
}
