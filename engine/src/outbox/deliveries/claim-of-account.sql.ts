import type { DueDelivery } from './due-delivery.ts';
import { addJobs, type JobSpec, type Sql } from '../../db/index.ts';
import { type ClaimedLane, leaseDueOfMany } from './claim-deliveries.sql.ts';
import { accountLane, deliverLane } from './deliver-lane.ts';
import { goesThroughLane } from '../webhooks/receiver-columns.sql.ts';

/** Webhooks that are looked at in one turn of an account's lane. */
export const WEBHOOKS_LOOKED_AT = 1_000;

export interface DueQuery {
  /** Looks at those after it. */
  after: string;
  /** At most WEBHOOKS_LOOKED_AT. */
  limit: number;
}

export interface DueWebhooks {
  /** Their deliveries may be claimed together. */
  free: string[];
  /** The last one that was looked at. Undefined: no other webhook comes after these. */
  last: string | undefined;
}

/** Webhooks whose last attempts have failed, and all others. */
type ByHealth<T> = Record<'answering' | 'failing', T>;

interface DueRow {
  id: string;
  isFailing: boolean;
  isGoverned: boolean;
  hasJob: boolean;
}

/**
 * The webhooks of an account with something due, in the order of their ids. One that has a rate, an
 * order or a bound gets a lane job of its own, unless one waits already: only its own lane knows
 * when it may go on. Each webhook costs one probe of the index, however much waits for it.
 *
 * One statement reads both kinds: a webhook that begins to fail, or ends, is in one of them.
 */
export async function readDueWebhooks(
  sql: Sql,
  accountId: string,
  { answering, failing }: ByHealth<DueQuery>,
): Promise<ByHealth<DueWebhooks>> {
  const due = (isFailing: boolean, { after, limit }: DueQuery) => sql`
    select w.id, ${isFailing}::bool as "isFailing", ${goesThroughLane(sql)} as "isGoverned", exists (
      select from graphile_worker._private_jobs j where j.key = 'deliver:' || w.id || ':now' and j.locked_at is null
    ) as "hasJob"
    from (
      select * from webhooks
      where account_id = ${accountId} and active and id > ${after} and (failing_since is not null) = ${isFailing}::bool
      order by id
    ) as w
    cross join lateral (
      select from deliveries d
      where d.webhook_id = w.id and d.status = 'pending' and d.leased_by is null and d.next_attempt_at <= now()
      order by d.leased_by, d.next_attempt_at limit 1
    ) as due
    limit ${limit}`;
  const rows = await sql<DueRow[]>`(${due(false, answering)}) union all (${due(true, failing)})`;
  const governed = rows.filter((row) => row.isGoverned && !row.hasJob);
  await addJobs(
    sql,
    governed.map(({ id }) => deliverLane(id)),
  );
  return {
    answering: dueOf(
      rows.filter(({ isFailing }) => !isFailing),
      answering,
    ),
    failing: dueOf(
      rows.filter(({ isFailing }) => isFailing),
      failing,
    ),
  };
}

function dueOf(rows: readonly DueRow[], { limit }: DueQuery): DueWebhooks {
  return {
    free: rows.filter((row) => !row.isGoverned).map(({ id }) => id),
    last: rows.length === limit ? rows.at(-1)?.id : undefined,
  };
}

export interface AccountClaim {
  accountId: string;
  /** Up to `most` of each. */
  lanes: readonly ClaimedLane[];
  /** Added if these lanes leave nothing behind; otherwise the account's lane is added at once. */
  otherwise: JobSpec | undefined;
  /**
   * Added where a webhook was found with something due and nothing was leased of it: it may go
   * through its own lane by now, which has no job yet.
   */
  later: JobSpec;
}

/**
 * Leases due deliveries of many webhooks in one statement, as `claimDeliveries` does for one. Takes
 * nothing of a webhook that is stopped or has its own lane by now.
 */
export async function claimOfAccount(
  sql: Sql,
  nodeId: string,
  { accountId, lanes, otherwise, later }: AccountClaim,
): Promise<DueDelivery[]> {
  return sql.begin(async (tx) => {
    const { taken, mayBeMore, hasEmpty } = await leaseDueOfMany(tx, nodeId, lanes);
    const again = mayBeMore ? accountLane(accountId) : (otherwise ?? (hasEmpty ? later : undefined));
    if (again !== undefined) await addJobs(tx, [again]);
    return taken;
  });
}
