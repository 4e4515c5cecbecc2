import type { AccountLimitName, ExceededLimit } from '@headwater/shared';
import { codeBytesOfRow } from '../../accounts/index.ts';
import type { UsageDay } from '../../contract/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';
import { addNotice } from '../../outbox/index.ts';

/** From here on an account is told, once each until it is far from the limit again. */
const PERCENTS = [100, 80] as const;
const FAR_PERCENT = 60;

/**
 * Tells an account, on its channel `$webhooks`, of limits that it has reached or is near since it
 * was looked at last. Nodes that look at the same time tell it once.
 */
export async function notifyNearLimits(sql: Sql, accountId: string, held: readonly ExceededLimit[]): Promise<void> {
  const shares = held
    .filter(({ value }) => value > 0)
    .map((limit) => ({ limit, percent: (limit.used / limit.value) * 100 }));
  const far = shares.filter(({ percent }) => percent < FAR_PERCENT).map(({ limit }) => limit.name);
  const near = shares.flatMap(({ limit, percent }) => {
    const reached = PERCENTS.find((one) => percent >= one);
    return reached === undefined ? [] : [{ limit, reached }];
  });
  await sql.begin(async (tx) => {
    await tx`delete from limit_notices where account_id = ${accountId} and limit_name = any(${far}::text[])`;
    for (const { limit, reached } of near) {
      const told = await tx`
        insert into limit_notices as n (account_id, limit_name, percent)
        select id, ${limit.name}, ${reached}::int2 from accounts where id = ${accountId}
        on conflict (account_id, limit_name) do update set percent = excluded.percent where n.percent < excluded.percent
        returning percent`;
      if (told.length === 0) continue;
      const { name, value, used } = limit;
      await addNotice(tx, { type: 'limit.near', accountId, about: { limit: name, value, used, percent: reached } });
    }
  });
}

/** The days of an account on which something is known, the oldest first. Days are `2026-11-27`. */
export async function readUsageDays(
  sql: Sql,
  accountId: string,
  { from, last }: { from: string; last: string },
): Promise<UsageDay[]> {
  return sql<UsageDay[]>`
    select day::text, requests, runs, round(run_ms)::int8 as "runMs", round(cpu_ms)::int8 as "cpuMs", events, deliveries,
      attempts, bytes_in as "bytesIn", bytes_out as "bytesOut", storage_bytes as "storageBytes"
    from usage_days where account_id = ${accountId} and day >= ${from}::date and day <= ${last}::date order by day`;
}

/** Deletes days that are older. Answers how many, `limit` at most. */
export async function expireUsage(sql: Sql, keptDays: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from usage_days where ctid = any(array(
      select ctid from usage_days where day < (now() at time zone 'utc')::date - ${keptDays}::int4
      order by day limit ${limit} for update skip locked
    ))`;
  return rows.count;
}

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
