import type { AccountSummary } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

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
