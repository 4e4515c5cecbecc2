import { LIMITS } from '@headwater/shared';
import type { DueDelivery } from './due-delivery.ts';
import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { leaseDue } from './claim-deliveries.sql.ts';
import { deliverLane } from './deliver-lane.ts';
import { type Heads, parkBehind, releaseNext } from './ordered-deliveries.sql.ts';

/** A rate that was not used within this time is not made up for later. */
const BURST_MS = 1_000;
/** A lane at a rate comes round so often, or for each delivery where these are rarer. */
const ROUND_MS = 100;
const ROUNDING = 1e-6;

interface Pace {
  perSecond: number | null;
  isDraining: boolean;
  isOrdered: boolean;
  maxInFlight: number | null;
  now_ms: number;
  paced_until_ms: number | null;
}

/**
 * `claimDeliveries` for a webhook that drains, is put off by its receiver, or has a rate, an
 * in-flight limit or an order. The webhook's row is locked, so each rule holds across nodes. If an
 * attempt must end before the next begins, its record adds the lane. A drain has ended when nothing
 * more is due.
 */
export async function claimGoverned(
  sql: Sql,
  nodeId: string,
  webhookId: string,
  limit: number,
): Promise<DueDelivery[]> {
  return sql.begin(async (tx) => {
    const pace = await lockPace(tx, webhookId);
    if (pace === undefined) return [];
    const inFlight = pace.isOrdered || pace.maxInFlight !== null ? await keysInFlight(tx, webhookId) : [];
    const free = Math.max(0, (pace.maxInFlight ?? Number.POSITIVE_INFINITY) - inFlight.length);
    const { most, nextMs } = allowance(pace, limit);
    if (most === 0) {
      await addJobs(tx, [deliverLane(webhookId, nextMs)]);
      return [];
    }
    if (free === 0) return [];
    const heads = pace.isOrdered
      ? await parkBehind(tx, { webhookId, inFlight, most: Math.min(most, free) })
      : undefined;
    return take(tx, { nodeId, webhookId, pace, most: Math.min(most, free), heads });
  });
}

interface Taking {
  nodeId: string;
  webhookId: string;
  pace: Pace;
  most: number;
  /** Undefined: any may be taken. */
  heads: Heads | undefined;
}

async function take(tx: Transaction, { nodeId, webhookId, pace, most, heads }: Taking): Promise<DueDelivery[]> {
  const leased = await leaseDue(tx, nodeId, webhookId, most, heads?.ids);
  if (leased.cancelled.length > 0) await releaseNext(tx, leased.cancelled);
  const mayBeMore =
    heads === undefined
      ? leased.mayBeMore
      : heads.mayBeMore || leased.found < heads.ids.length || leased.cancelled.length > 0;
  const pacedUntilMs = pacedAfter(pace, leased.found);
  await record(tx, webhookId, { pacedUntilMs, isOver: pace.isDraining && !mayBeMore });
  if (mayBeMore) await addJobs(tx, [deliverLane(webhookId, nextRoundMs(pace, pacedUntilMs))]);
  return leased.taken;
}

async function lockPace(tx: Transaction, webhookId: string): Promise<Pace | undefined> {
  const [row] = await tx<Pace[]>`
    select least(drain_per_second, rate_per_second, case when adaptive_rate is not null
        then coalesce((adaptive_rate ->> 'perSecond')::float8, ${LIMITS.adaptiveRatePerSecond}::int4) end) as "perSecond",
      drain_before is not null as "isDraining",
      ordering = 'fifo' as "isOrdered", max_in_flight as "maxInFlight",
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
      (extract(epoch from paced_until) * 1000)::float8 as paced_until_ms
    from webhooks where id = ${webhookId} and active for no key update`;
  return row;
}

/** The order keys of the webhook's leased deliveries, one for each delivery. */
async function keysInFlight(tx: Transaction, webhookId: string): Promise<(string | null)[]> {
  const rows = await tx<{ order_key: string | null }[]>`
    select d.order_key from nodes n join deliveries d on d.leased_by = n.id
    where d.webhook_id = ${webhookId} and d.status = 'pending'`;
  return rows.map((row) => row.order_key);
}

/** How many deliveries may be taken now; if none, the time when one may. */
function allowance({ perSecond, ...pace }: Pace, limit: number): { most: number; nextMs: number } {
  if (perSecond === null) {
    // Put off by its receiver.
    const untilMs = pace.paced_until_ms ?? pace.now_ms;
    return { most: untilMs > pace.now_ms ? 0 : limit, nextMs: untilMs };
  }
  const eachMs = 1_000 / perSecond;
  const fromMs = fullAt({ perSecond, ...pace });
  const most = Math.min(limit, Math.max(0, Math.floor((pace.now_ms - fromMs) / eachMs + ROUNDING)));
  return { most, nextMs: fromMs + eachMs };
}

/** One may be sent at once, however long nothing was. */
function fullAt({ perSecond, now_ms, paced_until_ms }: Pace): number {
  const eachMs = perSecond === null ? 0 : 1_000 / perSecond;
  return Math.max(paced_until_ms ?? now_ms - eachMs, now_ms - Math.max(BURST_MS, eachMs));
}

function pacedAfter(pace: Pace, taken: number): number | null {
  return pace.perSecond === null ? null : fullAt(pace) + (taken * 1_000) / pace.perSecond;
}

function nextRoundMs({ perSecond, now_ms }: Pace, pacedUntilMs: number | null): number | undefined {
  if (perSecond === null || pacedUntilMs === null) return undefined;
  return Math.max(now_ms, pacedUntilMs + Math.max(ROUND_MS, 1_000 / perSecond));
}

async function record(
  tx: Transaction,
  webhookId: string,
  { pacedUntilMs, isOver }: { pacedUntilMs: number | null; isOver: boolean },
): Promise<void> {
  if (pacedUntilMs === null && !isOver) return;
  await tx`
    update webhooks set paced_until = coalesce(to_timestamp(${pacedUntilMs}::float8 / 1000), paced_until)
      ${isOver ? tx`, drain_before = null, drain_per_second = null` : tx``}
    where id = ${webhookId}`;
}
