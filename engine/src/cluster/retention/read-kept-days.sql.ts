import type { Sql } from '../../db/index.ts';

/** Retention of one source, workflow, webhook or account; 0 days means forever. */
export interface KeptDays {
  id: string;
  days: number;
  /** Older rows are deleted in any case, because the account exceeds maxHistoryBytes. 0: none. */
  keptFromMs: number;
}

interface Turn {
  /** The first ones after this id; '' begins at the first of all. */
  after: string;
  limit: number;
  /** Days of accounts for which nothing else is set. */
  defaultDays: number;
}

/**
 * Sources, workflows and accounts in the order of their ids, deleted ones included: what they
 * emitted is still there.
 */
export async function readEmittersKeptDays(sql: Sql, { after, limit, defaultDays }: Turn): Promise<KeptDays[]> {
  return sql<KeptDays[]>`
    select s.id, coalesce((a.limits ->> 'eventRetentionDays')::float8, ${defaultDays}::float8) as days,
      coalesce(h.kept_from_ms, 0) as "keptFromMs"
    from (
      (select id, account_id from emitters where id > ${after} order by id limit ${limit})
      union all
      -- An account is an emitter once something was told of its webhooks.
      (select a.id, a.id from accounts a join emitter_state e on e.emitter_id = a.id where a.id > ${after} order by a.id limit ${limit})
    ) as s join accounts a on a.id = s.account_id left join account_histories h on h.account_id = a.id
    order by s.id limit ${limit}`;
}

/**
 * Workflows in the order of their ids, with the number of versions that are kept in any case.
 * Versions go by their days alone.
 */
export async function readWorkflowsKept(
  sql: Sql,
  { after, limit, defaultDays, defaultVersions }: Turn & { defaultVersions: number },
): Promise<(KeptDays & { versions: number })[]> {
  return sql<(KeptDays & { versions: number })[]>`
    select w.id, coalesce((a.limits ->> 'eventRetentionDays')::float8, ${defaultDays}::float8) as days, 0 as "keptFromMs",
      coalesce((a.limits ->> 'keptWorkflowVersions')::int4, ${defaultVersions}::int4) as versions
    from emitters w join accounts a on a.id = w.account_id
    where w.kind = 'workflow' and w.deleted_at is null and w.id > ${after} order by w.id limit ${limit}`;
}

/**
 * Webhooks that there are deliveries to, deleted ones included, in the order of their ids. Steps
 * from one to the next through the index, however many deliveries each has.
 */
export async function readWebhooksKeptDays(sql: Sql, { after, limit, defaultDays }: Turn): Promise<KeptDays[]> {
  return sql<KeptDays[]>`
    with recursive found(webhook_id, account_id) as (
      (select webhook_id, account_id from deliveries where webhook_id > ${after} order by webhook_id limit 1)
      union all
      select next.webhook_id, next.account_id from found cross join lateral (
        select webhook_id, account_id from deliveries d
        where d.webhook_id > found.webhook_id order by d.webhook_id limit 1
      ) as next
    )
    select f.webhook_id as id, coalesce((a.limits ->> 'eventRetentionDays')::float8, ${defaultDays}::float8) as days,
      coalesce(h.kept_from_ms, 0) as "keptFromMs"
    from (select * from found limit ${limit}) as f join accounts a on a.id = f.account_id
      left join account_histories h on h.account_id = a.id
    order by f.webhook_id`;
}
