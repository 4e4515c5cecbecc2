import type { AccountLimitName } from '@headwater/shared';
import { codeBytesOfRow } from '../../accounts/require-code-room.sql.ts';
import type { Sql, Transaction } from '../../db/database.ts';

/** Amounts that an account has, as its limits count them. */
export type Held = Pick<Record<AccountLimitName, number>, (typeof HELD_LIMITS)[number]>;

/** Limits of an account that it is told of before it reaches them. */
export const HELD_LIMITS = [
  'maxSources',
  'maxWorkflows',
  'maxWebhooks',
  'maxSubscriptions',
  'maxComponents',
  'maxDataStores',
  'maxEnvironmentVariables',
  'maxEmailsPerDay',
  'maxCodeBytes',
  'maxConfigurationBytes',
  'maxAllDbBytes',
  'maxWaitingBytes',
  'maxHistoryBytes',
] as const satisfies readonly AccountLimitName[];

/** Accounts whose storage was not looked at since `beforeMs` on this day, some of them. */
export async function findUnseenAccounts(
  sql: Sql,
  { beforeMs, limit }: { beforeMs: number; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id from accounts a
      left join usage_days u on u.account_id = a.id and u.day = (now() at time zone 'utc')::date
    where a.deleted_at is null and (u.stored_at is null or u.stored_at < to_timestamp(${beforeMs}::float8 / 1000))
    order by u.stored_at nulls first, a.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Reads sizes that rows keep, and no value. `dataStoreBytes`: of all data stores together. */
export async function readHeld(sql: Sql | Transaction, accountId: string): Promise<Held & { dataStoreBytes: number }> {
  const [row] = await sql<(Held & { dataStoreBytes: number })[]>`
    select sources.count as "maxSources", workflows.count as "maxWorkflows",
      (select count(*) from webhooks where account_id = ${accountId}) as "maxWebhooks",
      (select count(*) from subscriptions where account_id = ${accountId})
        + (select count(*) from auto_subscriptions where account_id = ${accountId}) as "maxSubscriptions",
      code.count as "maxComponents", stores.count as "maxDataStores",
      (select count(*) from environment_variables where account_id = ${accountId}) as "maxEnvironmentVariables",
      coalesce((
        select count from email_days where account_id = ${accountId} and day = (now() at time zone 'utc')::date
      ), 0) as "maxEmailsPerDay",
      code.bytes as "maxCodeBytes", (sources.bytes + versions.bytes)::int8 as "maxConfigurationBytes",
      (select coalesce(sum(db_bytes), 0)::int8 from emitter_state where account_id = ${accountId}) as "maxAllDbBytes",
      (select coalesce(sum(bytes), 0)::int8 from execution_waits where account_id = ${accountId}) as "maxWaitingBytes",
      coalesce((select bytes from account_histories where account_id = ${accountId}), 0)::int8 as "maxHistoryBytes",
      stores.bytes as "dataStoreBytes"
    from (
      select count(*) as count, coalesce(sum(configuration_bytes), 0)::int8 as bytes
      from emitters where account_id = ${accountId} and kind = 'source' and deleted_at is null
    ) as sources, (
      select count(*) as count from emitters
      where account_id = ${accountId} and kind = 'workflow' and deleted_at is null
    ) as workflows, (
      select coalesce(sum(configuration_bytes), 0)::int8 as bytes from deployments where account_id = ${accountId}
    ) as versions, (
      select count(*) as count, coalesce(sum(${codeBytesOfRow(sql)}), 0)::int8 as bytes
      from components where account_id = ${accountId} and deleted_at is null
    ) as code, (
      select count(*) as count, coalesce(sum(bytes), 0)::int8 as bytes from data_stores where account_id = ${accountId}
    ) as stores`;
  if (row === undefined) throw new Error(`Nothing was answered of account ${accountId}`);
  return row;
}

/** Notes what was found now: the day has the most of all looks. */
export async function noteStorage(sql: Sql, accountId: string, bytes: number): Promise<void> {
  await sql`
    insert into usage_days as u (account_id, day, storage_bytes, stored_at)
    select id, (now() at time zone 'utc')::date, ${bytes}::int8, now() from accounts where id = ${accountId}
    on conflict (account_id, day) do update set
      storage_bytes = greatest(u.storage_bytes, excluded.storage_bytes), stored_at = excluded.stored_at`;
}
