import { addJobs, crowdPriority, type Sql } from '../db/index.ts';
import { deliverLane, goesThroughLane, lanesOfWaiting, sendLane } from '../outbox/index.ts';
import { runLane } from '../runs/index.ts';
import { timerJob } from '../sources/index.ts';

/**
 * Adds lane jobs for all that waits of an account and that no node holds. Steps through the
 * account's emitters and webhooks, however much waits for each.
 */
export async function requeueAccount(sql: Sql, accountId: string): Promise<void> {
  const emitters = await sql<{ id: string }[]>`
    select e.id from emitters e where e.account_id = ${accountId} and e.deleted_at is null
      and exists (select from invocations i where i.leased_by is null and i.source_id = e.id)`;
  const webhooks = await sql<{ id: string }[]>`
    select w.id from webhooks w where w.account_id = ${accountId} and exists (
      select from deliveries d where d.status = 'pending' and d.leased_by is null and d.webhook_id = w.id
    )`;
  await addJobs(sql, [
    ...emitters.map(({ id }) => runLane(id)),
    ...lanesOfWaiting(webhooks.map(({ id }) => ({ accountId, webhookId: id }))),
    sendLane(accountId),
  ]);
}

/**
 * Adds lane jobs for webhooks with deliveries that have been due and unleased for `olderThanMs`.
 * Rows and jobs commit together, so such a webhook has lost its job since, or it waits for its turn
 * among many that fail: these have one job for their account. Skips stopped webhooks and suspended
 * accounts. Steps from webhook to webhook through the index, however many rows each has. Returns
 * the number of webhooks.
 */
export async function requeueStalledDeliveries(sql: Sql, olderThanMs: number): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ webhookId: string; freeOf: string | null }[]>`
      with recursive waiting(webhook_id) as (
        (
          select webhook_id from deliveries where status = 'pending' and leased_by is null
          order by leased_by, webhook_id limit 1
        )
        union all
        select (
          select d.webhook_id from deliveries d
          where d.status = 'pending' and d.leased_by is null and d.webhook_id > waiting.webhook_id
          order by d.leased_by, d.webhook_id limit 1
        ) from waiting where waiting.webhook_id is not null
      )
      select webhook_id as "webhookId", (
        select w.account_id from webhooks w where w.id = waiting.webhook_id and not ${goesThroughLane(tx)}
      ) as "freeOf" from waiting where webhook_id is not null
        and not exists (
          select from webhooks w join accounts a on a.id = w.account_id
          where w.id = waiting.webhook_id and (not w.active or a.suspended_at is not null)
        ) and exists (
        select from deliveries d
        where d.status = 'pending' and d.leased_by is null and d.webhook_id = waiting.webhook_id
          and d.next_attempt_at < now() - make_interval(secs => ${olderThanMs / 1_000}::float8)
      )`;
    await addJobs(tx, [
      ...rows.filter(({ freeOf }) => freeOf === null).map(({ webhookId }) => deliverLane(webhookId)),
      ...lanesOfWaiting(
        rows.flatMap(({ webhookId, freeOf }) => (freeOf === null ? [] : [{ webhookId, accountId: freeOf }])),
      ),
    ]);
    return rows.length;
  });
}

interface OverdueTimer {
  source_id: string;
  prop_name: string;
  generation: number;
  due_ms: number;
}

/** Maximum number of overdue timers in one call. */
const OVERDUE_BATCH = 1_000;

/**
 * Adds a job for each overdue timer that has none, or whose job will never run again. Otherwise the
 * timer would never fire again.
 */
export async function requeueOverdueTimers(sql: Sql, afterMs: number): Promise<void> {
  await sql.begin(async (tx) => {
    const rows = await tx<OverdueTimer[]>`
      select t.source_id, t.prop_name, t.generation, t.due_ms from timers t
      join emitters s on s.id = t.source_id and s.active and s.deleted_at is null
      where t.due_ms < extract(epoch from now()) * 1000 - ${afterMs}::float8 and not exists (
        select from graphile_worker._private_jobs j
        where j.key = ('timer:' || t.source_id || ':' || t.prop_name) collate "default"
          and (j.locked_at is not null or j.is_available)
      )
      order by t.due_ms limit ${OVERDUE_BATCH} for update of t skip locked`;
    const priority = crowdPriority(rows.length);
    await addJobs(
      tx,
      rows.map((row) =>
        timerJob(
          { sourceId: row.source_id, propName: row.prop_name, generation: row.generation, dueAtMs: row.due_ms },
          priority,
        ),
      ),
    );
  });
}

/**
 * Active sources and workflows with invocations that have waited without a lease for `afterMs`.
 * Skips paused workflows and suspended accounts, whose invocations stay. Includes deleted ones:
 * their lane deletes invocations that were committed during the deletion. Steps from one to the
 * next through the index, however many rows each has.
 */
export async function readStalledLanes(sql: Sql, afterMs: number): Promise<string[]> {
  const rows = await sql<{ source_id: string }[]>`
    with recursive waiting(source_id) as (
      (select source_id from invocations where leased_by is null order by leased_by, source_id limit 1)
      union all
      select (
        select source_id from invocations where leased_by is null and source_id > waiting.source_id
        order by leased_by, source_id limit 1
      ) from waiting where waiting.source_id is not null
    )
    select s.id as source_id from waiting
    join emitters s on s.id = waiting.source_id and (s.active or s.deleted_at is not null)
    join accounts a on a.id = s.account_id and (a.suspended_at is null or s.deleted_at is not null)
    left join deployments d on s.in_turn and d.id = s.deployment_id
    where (s.deleted_at is not null or (d.settings #>> '{throttle,limit}') is distinct from '0') and (
      select created_at from invocations i where i.leased_by is null and i.source_id = s.id
      order by i.leased_by, i.source_id, i.id limit 1
    ) < now() - make_interval(secs => ${afterMs / 1000}::float8)`;
  return rows.map((row) => row.source_id);
}
