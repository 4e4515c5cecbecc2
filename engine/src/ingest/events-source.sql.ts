import { notFound } from '@headwater/shared';
import type { Sql } from '../db/database.ts';

/** The source that events without one go to, where the account has one that is not deleted. */
export async function readEventsSource(sql: Sql, accountId: string): Promise<string | undefined> {
  const rows = await sql<{ id: string }[]>`
    select s.id from accounts a join sources s on s.id = a.events_source_id
    where a.id = ${accountId} and s.account_id = ${accountId} and s.deleted_at is null`;
  return rows[0]?.id;
}

/** Notes the source, unless another one was noted that is still there. Answers which one it is. */
export async function chooseEventsSource(sql: Sql, accountId: string, sourceId: string): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    update accounts a set events_source_id = case
      when exists (select from sources s where s.id = a.events_source_id and s.deleted_at is null) then a.events_source_id
      else ${sourceId}::text end
    where a.id = ${accountId} returning a.events_source_id as id`;
  const [row] = rows;
  if (row === undefined) throw notFound('account', accountId);
  return row.id;
}
