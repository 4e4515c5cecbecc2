import { type AccountLimitName, type AccountLimits, keepKnownLimits } from '@headwater/shared';
import type { AccountChange, AccountHistory, AccountSettings, AccountSummary, Owned } from '../contract/index.ts';
import { notifyAccountChanged, type Sql, type Transaction } from '../db/index.ts';

/** An account and its first user, in the caller's transaction. */
export async function insertAccount(
  tx: Sql | Transaction,
  account: { id: string; name: string },
  user: { id: string; username: string; email?: string },
): Promise<void> {
  await tx`insert into accounts (id, name) values (${account.id}, ${account.name})`;
  await tx`
    insert into users (id, account_id, username, email)
    values (${user.id}, ${account.id}, ${user.username}, ${user.email ?? null})`;
}

/**
 * A field that is not given stays; the e-mail address is that of the first user. Answers whether
 * there is such an account.
 */
export async function changeAccount(sql: Sql, accountId: string, { name, email }: AccountChange): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update accounts set name = coalesce(${name ?? null}, name), updated_at = now() where id = ${accountId} returning id`;
    if (rows.length === 0) return false;
    if (email === undefined) return true;
    await tx`
      update users set email = ${email} where id = (
        select id from users where account_id = ${accountId} order by created_at, id limit 1
      )`;
    return true;
  });
}

/**
 * An account that is suspended already keeps its time. Answers whether there is such an account.
 */
export async function suspendAccount(sql: Sql, accountId: string, isSuspended: boolean): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update accounts set suspended_at = case when ${isSuspended} then coalesce(suspended_at, now()) end, updated_at = now()
      where id = ${accountId} and deleted_at is null returning id`;
    if (rows.length > 0) await notifyAccountChanged(tx, accountId);
    return rows.length > 0;
  });
}

/** Narrows a list of accounts to the owner of what is given. */
export function owning(sql: Sql, { endpointKey, executionId, apiKeySha256 }: Owned) {
  return sql`
    ${endpointKey === undefined ? sql`` : sql`and id in (select account_id from endpoints where key = ${endpointKey})`}
    ${executionId === undefined ? sql`` : sql`and id in (select account_id from executions where id = ${executionId})`}
    ${apiKeySha256 === undefined ? sql`` : sql`and id in (select account_id from api_keys where key_hash = decode(${apiKeySha256}, 'hex'))`}`;
}

/**
 * For the operator, the one reader of all accounts. Those of `ids` that exist, in the order of
 * `ids`.
 */
export async function readAccounts(sql: Sql, ids: readonly string[]): Promise<AccountSummary[]> {
  const rows = await sql<Row[]>`
    select a.id, a.name, extract(epoch from a.created_at)::float8 * 1000 as created_ms,
      extract(epoch from a.deleted_at)::float8 * 1000 as deleted_ms,
      extract(epoch from a.suspended_at)::float8 * 1000 as suspended_ms,
      (select email from users u where u.account_id = a.id order by u.created_at, u.id limit 1) as email,
      (select count(*)::int4 from sources s
        where s.account_id = a.id and s.deleted_at is null and s.deployed_at is not null) as sources,
      (select count(*)::int4 from emitters p
        where p.account_id = a.id and p.kind = 'workflow' and p.deleted_at is null) as workflows,
      (select count(*)::int4 from webhooks w where w.account_id = a.id) as webhooks,
      coalesce((select bytes from account_histories h where h.account_id = a.id), 0)::float8 as "historyBytes",
      used.of_month as "usedThisMonth"
    from accounts a cross join lateral (
      select json_build_object('requests', coalesce(sum(requests), 0), 'runs', coalesce(sum(runs), 0),
        'runMs', coalesce(round(sum(run_ms)), 0), 'cpuMs', coalesce(round(sum(cpu_ms)), 0),
        'events', coalesce(sum(events), 0), 'deliveries', coalesce(sum(deliveries), 0),
        'attempts', coalesce(sum(attempts), 0), 'bytesIn', coalesce(sum(bytes_in), 0),
        'bytesOut', coalesce(sum(bytes_out), 0), 'storageBytes', coalesce(max(storage_bytes), 0)) as of_month
      from usage_days where account_id = a.id and day >= date_trunc('month', now() at time zone 'utc')::date
    ) as used
    where a.id = any(${[...ids]}::text[])
    order by array_position(${[...ids]}::text[], a.id)`;
  return rows.map(({ created_ms, suspended_ms, deleted_ms, email, ...row }) => ({
    ...row,
    createdAt: new Date(created_ms),
    ...(email === null ? {} : { email }),
    ...(suspended_ms === null ? {} : { suspendedAt: new Date(suspended_ms) }),
    ...(deleted_ms === null ? {} : { deletedAt: new Date(deleted_ms) }),
  }));
}

type Row = Pick<
  AccountSummary,
  'id' | 'name' | 'sources' | 'workflows' | 'webhooks' | 'historyBytes' | 'usedThisMonth'
> & {
  created_ms: number;
  suspended_ms: number | null;
  deleted_ms: number | null;
  email: string | null;
};

/** Undefined: there is no such account. */
export async function readAccountSettings(sql: Sql, accountId: string): Promise<AccountSettings | undefined> {
  const [row] = await sql<{ trace_context: boolean }[]>`select trace_context from accounts where id = ${accountId}`;
  return row && { accountId, traceContext: row.trace_context };
}

/** A setting that is not given stays. */
export async function changeAccountSettings(
  sql: Sql,
  accountId: string,
  { traceContext }: Partial<Omit<AccountSettings, 'accountId'>>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update accounts set trace_context = coalesce(${traceContext ?? null}::boolean, trace_context), updated_at = now()
      where id = ${accountId}`;
    await notifyAccountChanged(tx, accountId);
  });
}

/**
 * Null takes back what was set. `check` throws where what is set may not be changed. Answers what
 * is set now, or undefined where there is no such account.
 */
export async function changeAccountLimits(
  sql: Sql,
  accountId: string,
  change: Partial<Record<AccountLimitName, number | null>>,
  check: (set: Partial<AccountLimits>) => void,
): Promise<Partial<AccountLimits> | undefined> {
  return sql.begin(async (tx) => {
    const [before] = await tx<{ limits: Record<string, unknown> }[]>`
      select limits from accounts where id = ${accountId} for no key update`;
    if (before === undefined) return undefined;
    check(keepKnownLimits(before.limits));
    const [row] = await tx<{ limits: Record<string, unknown> }[]>`
      update accounts set limits = jsonb_strip_nulls(limits || ${JSON.stringify(change)}::text::jsonb), updated_at = now()
      where id = ${accountId} returning limits`;
    if (row === undefined) return undefined;
    await notifyAccountChanged(tx, accountId);
    return keepKnownLimits(row.limits);
  });
}

/** The limits set for the account; undefined if it does not exist. */
export async function readAccountLimits(sql: Sql, accountId: string): Promise<Partial<AccountLimits> | undefined> {
  const [row] = await sql<{ limits: Record<string, unknown> }[]>`select limits from accounts where id = ${accountId}`;
  return row && keepKnownLimits(row.limits);
}

/**
 * As readAccountLimits, with whether the operator has suspended the account, and whether it wants
 * traces passed on.
 */
export async function readAccountState(
  sql: Sql,
  accountId: string,
): Promise<(Partial<AccountLimits> & { isSuspended: boolean; passesTraces: boolean }) | undefined> {
  const [row] = await sql<{ limits: Record<string, unknown>; is_suspended: boolean; trace_context: boolean }[]>`
    select limits, suspended_at is not null as is_suspended, trace_context from accounts where id = ${accountId}`;
  return row && { ...keepKnownLimits(row.limits), isSuspended: row.is_suspended, passesTraces: row.trace_context };
}

export async function readAccountHistory(sql: Sql, accountId: string): Promise<AccountHistory> {
  const [row] = await sql<{ bytes: number; kept_from_ms: number }[]>`
    select bytes, kept_from_ms from account_histories where account_id = ${accountId}`;
  if (row === undefined) return { bytes: 0 };
  const { bytes, kept_from_ms: ms } = row;
  return { bytes, ...(ms === 0 ? {} : { keptFrom: new Date(ms) }) };
}

/** Whether the id is that of a source, workflow or webhook of the account. */
export async function resourceExists(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select from emitters where account_id = ${accountId} and id = ${id} and deleted_at is null
    union all select from webhooks where account_id = ${accountId} and id = ${id}`;
  return rows.length > 0;
}
