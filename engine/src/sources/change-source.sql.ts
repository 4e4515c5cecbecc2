import type { Durability, Preflight } from '../contract/index.ts';
import type { AccountLimits, PropDefinition } from '@headwater/shared';
import {
  type ChangeLease,
  chooseSlug,
  leaseLost,
  type LeaseTerms,
  notifySourceChanged,
  type Sql,
} from '../db/index.ts';
import type { HttpProp, TimerProp } from '../props/index.ts';
import { putEndpoints } from './create-source.sql.ts';
import { checkConfigurationRoom, lockAccount, noteUnusedCode } from '../accounts/index.ts';
import { addRunLanes } from '../runs/index.ts';
import { putTimers } from './put-timers.sql.ts';

/**
 * Takes the lease of a lifecycle change, so that hooks of one source never overlap on any node. The
 * lease ends with its node, or if it is not extended in time. Then the change is recovered
 * (claim-abandoned-source.ts), and the former holder writes no more.
 */
export async function beginSourceChange(
  sql: Sql,
  accountId: string,
  sourceId: string,
  { changeId, nodeId, seconds }: LeaseTerms,
): Promise<'taken' | 'busy' | 'absent'> {
  const rows = await sql<{ taken: boolean }[]>`
    with taken as (
      update sources set busy_until = now() + make_interval(secs => ${seconds}), busy_by = ${nodeId}, change_id = ${changeId},
        hooks_begun = false
      where account_id = ${accountId} and id = ${sourceId} and deleted_at is null and deployed_at is not null
        and busy_until is null
      returning id
    )
    select exists (select 1 from taken) as taken from sources
    where account_id = ${accountId} and id = ${sourceId} and deleted_at is null and deployed_at is not null`;
  const [row] = rows;
  if (row === undefined) return 'absent';
  return row.taken ? 'taken' : 'busy';
}

export async function extendSourceChange(
  sql: Sql,
  { accountId, sourceId, changeId, nodeId }: ChangeLease,
  seconds: number,
): Promise<void> {
  await sql`
    update sources set busy_until = now() + make_interval(secs => ${seconds})
    where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId}`;
}

/**
 * Called before a hook runs: a node that recovers this change must then run hooks again. Throws
 * CONFLICT if the lease was lost.
 */
export async function markHooksBegun(sql: Sql, { accountId, sourceId, changeId, nodeId }: ChangeLease): Promise<void> {
  const rows = await sql`
    update sources set hooks_begun = true
    where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId} returning id`;
  if (rows.length === 0) throw leaseLost(sourceId);
}

export interface SourceChange {
  componentId: string;
  configuredProps: Record<string, unknown>;
  dynamicProps: readonly PropDefinition[];
  name: string;
  /** If another source has it, the next free slug is used. */
  nameSlug: string;
  active: boolean;
  preflight: Preflight;
  durability: Durability;
  httpProps: readonly HttpProp[];
}

/** By how much its props grow. */
export interface Growth {
  bytes: number;
  limits: Pick<AccountLimits, 'maxConfigurationBytes'>;
}

/**
 * Puts new code, props or state in place; the revision makes every node use them for the next run.
 * Throws CONFLICT where the lease was lost, or the account has no room for their growth.
 */
export async function putSourceChange(
  sql: Sql,
  lease: ChangeLease,
  change: SourceChange,
  growth?: Growth,
): Promise<void> {
  const { accountId, sourceId, changeId, nodeId } = lease;
  await sql.begin(async (tx) => {
    if (growth !== undefined) {
      await lockAccount(tx, accountId);
      await checkConfigurationRoom(tx, accountId, growth.limits, growth.bytes);
    }
    const nameSlug = await chooseSlug(tx, accountId, change.nameSlug, { kind: 'source', id: sourceId });
    await noteUnusedCode(tx, sourceId, change.componentId);
    const rows = await tx`
      update sources set component_id = ${change.componentId}, name = ${change.name}, name_slug = ${nameSlug},
        configured_props = ${JSON.stringify(change.configuredProps)}::text::jsonb,
        dynamic_props = ${JSON.stringify(change.dynamicProps)}::text::jsonb, active = ${change.active}, preflight = ${change.preflight},
        durability = ${change.durability},
        revision = revision + 1, updated_at = now()
      where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId} returning id`;
    if (rows.length === 0) throw leaseLost(sourceId);
    await putEndpoints(tx, accountId, sourceId, change.httpProps);
    await notifySourceChanged(tx, sourceId);
  });
}

/** Makes the source inactive; its code and props stay. */
export async function stopSource(sql: Sql, { accountId, sourceId, changeId, nodeId }: ChangeLease): Promise<void> {
  await sql`
    update sources set active = false, revision = revision + 1, updated_at = now()
    where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId}`;
}

/**
 * Ends a deployment or change: the source becomes visible, its timers are set (none if it is
 * inactive), and its waiting invocations run. Does nothing if the lease was lost: the node that
 * recovers the change ends it.
 */
export async function endSourceChange(
  sql: Sql,
  { accountId, sourceId, changeId, nodeId }: ChangeLease,
  { httpProps, timers }: { httpProps: readonly HttpProp[]; timers: readonly TimerProp[] },
): Promise<void> {
  await sql.begin(async (tx) => {
    const rows = await tx<{ active: boolean }[]>`
      update sources set busy_until = null, busy_by = null, change_id = null, hooks_begun = false,
        deployed_at = coalesce(deployed_at, now())
      where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId} returning active`;
    const [row] = rows;
    if (row === undefined) return;
    await putEndpoints(tx, accountId, sourceId, httpProps);
    await putTimers(tx, accountId, sourceId, row.active ? timers : []);
    if (row.active) await addRunLanes(tx, [sourceId]);
    await notifySourceChanged(tx, sourceId);
  });
}
