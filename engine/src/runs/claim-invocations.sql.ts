import { causeOf } from '../events/cause.ts';
import type { HeldInvocation } from '../events/invocation.ts';
import { fitsClaim, mayLeaveMore } from '../db/claim-bytes.ts';
import type { Sql } from '../db/database.ts';
import { propNameOf } from './insert-invocations.sql.ts';

interface ClaimedRow {
  id: string;
  account_id: string;
  kind: HeldInvocation['kind'];
  prop_name: string | null;
  event: string;
  caused_by: string | null;
  trace_id: string | null;
  hops: number;
  crashes: number;
  attempts: number;
  claim: number;
  /** How many were found waiting, all of them in each row. */
  found: number;
}

export interface ClaimedInvocations {
  held: HeldInvocation[];
  /** There may be more. */
  more: boolean;
}

/**
 * Takes up to `limit` waiting invocations of an active source for this node, fewer where their
 * events are large, oldest first. Rows that another node is claiming at this moment are passed
 * over.
 */
export async function claimInvocations(
  sql: Sql,
  sourceId: string,
  nodeId: string,
  limit: number,
): Promise<ClaimedInvocations> {
  const rows = await sql<ClaimedRow[]>`
    update invocations i set leased_by = ${nodeId}, attempts = i.attempts + 1, claim = i.claim + 1
    from (
      select id, count(*) over () as found,
        sum(bytes) over (order by id rows between unbounded preceding and 1 preceding) as bytes_before
      from (
        select w.id, octet_length(w.event) as bytes
        from invocations w join emitters s on s.id = w.source_id and s.active and s.deleted_at is null
        where w.leased_by is null and w.source_id = ${sourceId}
        -- leased_by is null in all of them: named first, the order is the index's, and no backlog is sorted
        order by w.leased_by, w.source_id, w.id limit ${limit} for update of w skip locked
      ) as waiting
    ) as due
    where i.id = due.id and ${fitsClaim(sql)}
    returning i.id, i.account_id, i.kind, ${propNameOf(sql)} as prop_name, i.event, i.caused_by, i.trace_id, i.hops, i.crashes, i.attempts,
      i.claim, due.found::int4 as found`;
  const held = rows
    .map((row) => ({
      id: row.id,
      accountId: row.account_id,
      sourceId,
      kind: row.kind,
      propName: row.prop_name ?? undefined,
      event: row.event,
      cause: causeOf(row),
      crashes: row.crashes,
      attempts: row.attempts,
      leasedBy: nodeId,
      claim: row.claim,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return { held, more: mayLeaveMore(rows, limit) };
}
