import { LIMITS, newId, type PropDefinition } from '@headwater/shared';
import type { Sql } from '../db/index.ts';

/** Keeps definitions under an id of their own; the account's oldest make room. */
export async function insertDynamicProps(
  sql: Sql,
  accountId: string,
  componentId: string,
  definitions: readonly PropDefinition[],
): Promise<string> {
  const id = newId('dynamicProps');
  await sql.begin(async (tx) => {
    // Skips rows that another transaction deletes: waiting for each other's rows would deadlock.
    await tx`
      delete from dynamic_props where account_id = ${accountId} and id in (
        select id from dynamic_props where account_id = ${accountId}
        order by created_at desc, id desc offset ${LIMITS.maxDynamicPropsPerAccount - 1} for update skip locked)`;
    await tx`
      insert into dynamic_props (id, account_id, component_id, definitions, expires_at)
      values (${id}, ${accountId}, ${componentId}, ${JSON.stringify(definitions)}::text::jsonb,
        now() + ${LIMITS.dynamicPropsMs}::float8 * interval '1 millisecond')`;
  });
  return id;
}

export interface FoundDynamicProps {
  componentId: string;
  codeHash: string;
  definitions: PropDefinition[];
}

/** Undefined where the account has none with that id, or no longer. */
export async function readDynamicProps(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<FoundDynamicProps | undefined> {
  const [row] = await sql<{ component_id: string; code_hash: string; definitions: PropDefinition[] }[]>`
    select d.component_id, c.code_hash, d.definitions from dynamic_props d join components c on c.id = d.component_id
    where d.account_id = ${accountId} and d.id = ${id} and d.expires_at > now()`;
  return row && { componentId: row.component_id, codeHash: row.code_hash, definitions: row.definitions };
}

/** Covers all accounts. */
export async function deleteExpiredDynamicProps(sql: Sql): Promise<void> {
  await sql`delete from dynamic_props where expires_at <= now()`;
}
