import type { AccountDeletion } from '../contract/index.ts';
import {
  addJobs,
  type JobSpec,
  notifyAccountChanged,
  SOURCE_CHANGED_CHANNEL,
  type Sql,
  TASKS,
  type Transaction,
} from '../db/index.ts';

/**
 * Deletes those of these people who are a member of no account any more, with their sessions.
 * Nobody else knows them. Whoever makes one a member again meanwhile waits here, or is waited for.
 */
export async function deletePeopleWithoutAccount(tx: Transaction, personIds: readonly string[]): Promise<void> {
  if (personIds.length === 0) return;
  await tx`select from people where id = any(${[...personIds]}::text[]) order by id for update`;
  await tx`
    delete from people p where p.id = any(${[...personIds]}::text[])
      and not exists (select from memberships m where m.person_id = p.id)`;
}

/** The job that goes on with a deletion. */
export function deletionJob(accountId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.deleteAccount, payload: { accountId }, key: `delete-account:${accountId}` };
  return runAtMs === undefined ? spec : { ...spec, runAtMs };
}

/**
 * Ends an account for everybody at once: its keys and endpoints are gone and nothing of it runs. A
 * job deletes what it has. Answers the deletion, also one that was asked for before; undefined
 * where there never was such an account.
 */
export async function beginAccountDeletion(sql: Sql, accountId: string): Promise<AccountDeletion | undefined> {
  return sql.begin(async (tx) => {
    const accounts = await tx`
      update accounts set suspended_at = coalesce(suspended_at, now()), deleted_at = coalesce(deleted_at, now())
      where id = ${accountId} returning id`;
    if (accounts.length > 0) {
      await tx`
        insert into account_deletions (account_id, name) select id, name from accounts where id = ${accountId}
        on conflict do nothing`;
      await tx`delete from api_keys where account_id = ${accountId}`;
      const members = await tx<{ person_id: string }[]>`
        delete from memberships where account_id = ${accountId} returning person_id`;
      await tx`delete from invitations where account_id = ${accountId}`;
      await deletePeopleWithoutAccount(
        tx,
        members.map((one) => one.person_id),
      );
      await tx`delete from endpoints where account_id = ${accountId}`;
      await tx`select pg_notify(${SOURCE_CHANGED_CHANNEL}, id) from emitters where account_id = ${accountId}`;
      await notifyAccountChanged(tx, accountId);
      await dropJobs(tx, accountId);
      await addJobs(tx, [deletionJob(accountId)]);
    }
    return readAccountDeletion(tx, accountId);
  });
}

/**
 * Jobs of its lanes and timers, of which some are due in a year. Those at work find nothing and end
 * by themselves.
 */
async function dropJobs(tx: Transaction, accountId: string): Promise<void> {
  await tx`
    delete from graphile_worker._private_jobs where id in (
      select j.id from graphile_worker._private_jobs j
      where j.locked_by is null and j.key not like 'delete-account:%' and split_part(j.key, ':', 2) in (
        select ${accountId}::text
        union all select id from emitters where account_id = ${accountId}
        union all select id from webhooks where account_id = ${accountId}
      )
      order by j.id for update of j skip locked
    )`;
}

async function readAccountDeletion(tx: Transaction, accountId: string): Promise<AccountDeletion | undefined> {
  const [row] = await tx<{ name: string; requested_ms: number; rows: number; ended_ms: number | null }[]>`
    select name, extract(epoch from requested_at)::float8 * 1000 as requested_ms, deleted_rows::float8 as rows,
      extract(epoch from ended_at)::float8 * 1000 as ended_ms
    from account_deletions where account_id = ${accountId}`;
  if (row === undefined) return undefined;
  const { name, requested_ms: requestedMs, rows, ended_ms: endedMs } = row;
  const ended = endedMs === null ? {} : { endedAt: new Date(endedMs) };
  return { id: accountId, name, requestedAt: new Date(requestedMs), deletedRows: rows, ...ended };
}

/** Not the account's, though they name it. */
const NOT_OWN = new Set(['account_deletions', 'sources']);

/**
 * Tables that are emptied first, in this order, through an index. What is leased goes first: a run
 * or an attempt whose row is gone commits nothing. Rows that others are found by go last.
 */
const FIRST = [
  { table: 'invocations', column: 'account_id' },
  { table: 'timers', column: 'account_id' },
  { table: 'execution_waits', column: 'workflow_id' },
  { table: 'deliveries', column: 'webhook_id', from: 'webhooks' },
  { table: 'sends', column: 'workflow_id' },
  { table: 'execution_steps', column: 'execution_id', from: 'executions' },
  { table: 'executions', column: 'workflow_id' },
  { table: 'events', column: 'emitter_id' },
  { table: 'runs', column: 'source_id' },
  { table: 'live_lines', column: 'emitter_id' },
  { table: 'missed_events', column: 'emitter_id' },
  { table: 'published_ids', column: 'emitter_id' },
  { table: 'component_db', column: 'source_id' },
  { table: 'emitter_state', column: 'emitter_id' },
  { table: 'stats', column: 'account_id' },
  { table: 'subscriptions', column: 'account_id' },
  { table: 'auto_subscriptions', column: 'account_id' },
] as const;

/** Before these only, as they are referred to. */
const LAST = ['emitters', 'webhooks', 'components', 'connected_accounts', 'all_apps', 'users'];

/**
 * Deletes up to `limit` rows of one table of an account that is being deleted, in a transaction of
 * its own. Answers whether there may be more: false once the account itself is gone and no table
 * has a row of it. May be called again at any time, by any node, whatever became of the call
 * before. Rows that a commit holds are left to the next call.
 */
export async function deleteSomeOfAccount(sql: Sql, accountId: string, limit: number): Promise<boolean> {
  const [deletion] = await sql`select from account_deletions where account_id = ${accountId}`;
  if (deletion === undefined) return false;
  await sql.begin((tx) => dropJobs(tx, accountId));
  for (const step of FIRST) {
    const from = 'from' in step ? step.from : 'emitters';
    const owner = step.column === 'account_id' ? undefined : from;
    if ((await deleteRows(sql, accountId, { table: step.table, column: step.column, owner }, limit)) > 0) return true;
  }
  // Rows to which the owners above no longer lead, and all tables that have no more than a few rows
  // of an account.
  for (const table of await tablesOfAccounts(sql)) {
    const rows = await deleteRows(sql, accountId, { table, column: 'account_id', owner: undefined }, limit);
    if (rows > 0) return true;
  }
  return sql.begin(async (tx) => {
    await tx`update registry_components set publisher = 'deleted' where publisher = ${accountId}`;
    const gone = await tx`delete from accounts where id = ${accountId} and deleted_at is not null returning id`;
    await tx`update account_deletions set ended_at = now() where account_id = ${accountId} and ended_at is null`;
    return gone.length > 0;
  });
}

interface Step {
  table: string;
  column: string;
  /** Table that `column` refers to; undefined: the rows have `account_id`. */
  owner: string | undefined;
}

async function deleteRows(sql: Sql, accountId: string, { table, column, owner }: Step, limit: number): Promise<number> {
  return sql.begin(async (tx) => {
    const ofAccount =
      owner === undefined
        ? tx`t.account_id = ${accountId}`
        : tx`t.${tx(column)} in (select o.id from ${tx(owner)} o where o.account_id = ${accountId})`;
    const rows = await tx<{ key: string }[]>`
      delete from ${tx(table)} where ctid = any(array(
        select t.ctid from ${tx(table)} t where ${ofAccount} limit ${limit} for update skip locked
      )) returning ${table === 'deliveries' ? tx`webhook_id || ' ' || id` : tx`''`} as key`;
    if (rows.length === 0) return 0;
    if (table === 'deliveries')
      await deleteResponses(
        tx,
        rows.map(({ key }) => key),
      );
    await tx`
      update account_deletions set deleted_rows = deleted_rows + ${rows.length} where account_id = ${accountId}`;
    return rows.length;
  });
}

async function deleteResponses(tx: Transaction, keys: readonly string[]): Promise<void> {
  const parts = keys.map((key) => key.split(' '));
  await tx`
    delete from delivery_responses r using unnest(
      ${parts.map(([webhookId]) => webhookId ?? '')}::text[], ${parts.map(([, id]) => id ?? '')}::text[]
    ) as gone(webhook_id, id) where r.webhook_id = gone.webhook_id and r.delivery_id = gone.id`;
}

/** Read from the schema: a table of a later version is not forgotten. */
async function tablesOfAccounts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.table_name::text as name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
    order by c.table_name`;
  const names = rows.map(({ name }) => name).filter((name) => !NOT_OWN.has(name));
  return [...names.filter((name) => !LAST.includes(name)), ...LAST.filter((name) => names.includes(name))];
}
