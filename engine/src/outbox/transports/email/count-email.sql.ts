import type { Sql } from '../../../db/index.ts';

/**
 * Takes one of the e-mails that an account may send today (UTC). Returns the day, or undefined if
 * none is left.
 */
export async function takeEmail(sql: Sql, accountId: string, maxPerDay: number): Promise<string | undefined> {
  if (maxPerDay <= 0) return undefined;
  const [row] = await sql<{ day: string }[]>`
    insert into email_days as d (account_id, day, count) values (${accountId}, (now() at time zone 'utc')::date, 1)
    on conflict (account_id, day) do update set count = d.count + 1 where d.count < ${maxPerDay}
    returning day::text`;
  return row?.day;
}

/**
 * For one that was not sent after all: to the day that it was taken of, also where that is over by
 * now.
 */
export async function giveEmailBack(sql: Sql, accountId: string, day: string): Promise<void> {
  await sql`
    update email_days set count = count - 1
    where account_id = ${accountId} and day = ${day}::date and count > 0`;
}

export async function deleteOldEmailCounts(sql: Sql): Promise<void> {
  await sql`delete from email_days where day < (now() at time zone 'utc')::date - 1`;
}
