import type { AccountHistory } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

export async function readAccountHistory(sql: Sql, accountId: string): Promise<AccountHistory> {
  const [row] = await sql<{ bytes: number; kept_from_ms: number }[]>`
    select bytes, kept_from_ms from account_histories where account_id = ${accountId}`;
  if (row === undefined) return { bytes: 0 };
  const { bytes, kept_from_ms: ms } = row;
  return { bytes, ...(ms === 0 ? {} : { keptFrom: new Date(ms) }) };
}
