import { newId } from '@headwater/shared';
import type { Sql, Transaction } from '../../db/index.ts';
import type { Expiry } from './delete-expired.sql.ts';
import { deleteStepComponents } from '../../components/index.ts';

/**
 * How long versions of a workflow are kept that nothing uses, and how many of the newest in any
 * case.
 */
export interface VersionExpiry extends Expiry {
  keptVersions: number;
}

/**
 * Notes from when on versions are neither current nor among the newest; of `limit` of them at most.
 */
export async function markUnusedVersions(
  sql: Sql,
  expiries: readonly VersionExpiry[],
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<void> {
  await sql`
    update deployments d set unused_since = to_timestamp(${nowMs}::float8 / 1000)
    from (
      select old.id from unnest(
        ${expiries.map(({ id }) => id)}::text[], ${expiries.map(({ keptVersions }) => keptVersions)}::int4[]
      ) as k(id, kept) join emitters w on w.id = k.id and w.deleted_at is null
      cross join lateral (
        select id from deployments v where v.workflow_id = k.id and v.id <> w.deployment_id and v.unused_since is null
          and v.version <= (select max(version) from deployments l where l.workflow_id = k.id) - k.kept
        for update skip locked
      ) as old limit ${limit}
    ) as old
    where d.id = old.id`;
}

/**
 * Deletes versions that have been unused for so long that no execution is left of them, with the
 * components that were saved from their steps. Answers how many, `limit` of each workflow at most.
 */
export async function deleteUnusedVersions(
  sql: Sql,
  expiries: readonly VersionExpiry[],
  limit: number,
): Promise<number> {
  const byId = new Map(expiries.map((expiry) => [expiry.id, expiry]));
  const due = await sql<{ id: string }[]>`
    select k.id from unnest(
      ${expiries.map(({ id }) => id)}::text[], ${expiries.map(({ beforeMs }) => beforeMs)}::float8[]
    ) as k(id, before_ms)
    where exists (
      select from deployments d where d.workflow_id = k.id and d.unused_since < to_timestamp(k.before_ms / 1000)
    )`;
  let deleted = 0;
  for (const { id } of due) {
    const expiry = byId.get(id);
    if (expiry !== undefined) deleted += await sql.begin((tx) => deleteOfWorkflow(tx, expiry, limit));
  }
  return deleted;
}

/**
 * A deploy locks the workflow row and a replay locks the version row. Locked rows are skipped, so
 * the version they chose exists until they end.
 */
async function deleteOfWorkflow(tx: Transaction, expiry: VersionExpiry, limit: number): Promise<number> {
  const { id, beforeMs, keptVersions } = expiry;
  const [workflow] = await tx<{ account_id: string; deployment_id: string }[]>`
    select account_id, deployment_id from emitters
    where id = ${id} and kind = 'workflow' and deleted_at is null for update skip locked`;
  if (workflow === undefined) return 0;
  const gone = await tx<{ components: string[] }[]>`
    with ${usedVersions(tx, id, newId('execution', beforeMs))}
    delete from deployments g using (
      select d.id from deployments d
      where d.workflow_id = ${id} and d.id <> ${workflow.deployment_id}
        and d.unused_since < to_timestamp(${beforeMs}::float8 / 1000)
        and d.version <= (select max(version) from deployments l where l.workflow_id = ${id}) - ${keptVersions}::int4
        and not exists (select from used where used.id = d.id) and not ${hasOwnSource(tx, id)}
      order by d.version limit ${limit} for update skip locked
    ) as old
    where g.id = old.id returning array(select s ->> 'componentId' from jsonb_array_elements(g.steps) s) as components`;
  await deleteStepComponents(tx, workflow.account_id, [...new Set(gone.flatMap(({ components }) => components))]);
  return gone.length;
}

/**
 * Versions of which executions are left. They began before it was unused, so that those with a
 * record have older ids, or wait; one without a record has steps and is queued or runs. Gathered
 * once: a workflow may have many that wait, and many versions.
 */
function usedVersions(tx: Transaction, workflowId: string, beforeId: string) {
  return tx`used as materialized (
      select deployment_id as id from executions where workflow_id = ${workflowId} and id < ${beforeId}
      union
      select deployment_id from executions where workflow_id = ${workflowId} and status in ('waiting', 'queued')
      union
      select s.deployment_id from invocations i join execution_steps s on s.execution_id = i.id
      where i.source_id = ${workflowId} and i.leased_by is null and i.place is not null and least(i.attempts, 1) = 1
      union
      select s.deployment_id from nodes n join invocations i on i.leased_by = n.id and i.source_id = ${workflowId}
      join execution_steps s on s.execution_id = i.id
    )`;
}

/**
 * Whether it is the newest of those that name a source which was deployed with the workflow: by it
 * the source is known to be the workflow's, and is deleted with it.
 */
function hasOwnSource(tx: Transaction, workflowId: string) {
  return tx`exists (
      select from jsonb_array_elements(d.triggers) t join emitters s on s.id = t ->> 'sourceId' and s.deleted_at is null
      where t ->> 'deployed' = 'true' and not exists (
        select from deployments n where n.workflow_id = ${workflowId} and n.version > d.version
          and n.triggers @> jsonb_build_array(jsonb_build_object('sourceId', s.id, 'deployed', true))
      )
    )`;
}
