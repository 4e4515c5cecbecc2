import type { DueDelivery } from '../delivery/due-delivery.ts';
import { addJobs } from './add-jobs.ts';
import { leaseDue } from './claim-deliveries.ts';
import type { Sql, Transaction } from './database.ts';
import { deliverLane } from './deliver-lane.ts';

/** What was not sent within this time is not sent later in addition. */
const BURST_MS = 1_000;
/** A lane at a rate comes round so often, or for each delivery where these are rarer. */
const ROUND_MS = 100;

const ROUNDING = 1e-6;

interface Pace {
  perSecond: number | null;
  isDraining: boolean;
  now_ms: number;
  paced_until_ms: number | null;
}

/**
 * `claimDeliveries` for a webhook that drains: no more a second than it was started with. The row of
 * the webhook is locked, so the rate is that of all nodes together. The drain has ended when nothing
 * more is due.
 */
export async function claimPaced(sql: Sql, nodeId: string, webhookId: string, limit: number): Promise<DueDelivery[]> {
  return sql.begin(async (tx) => {
    const pace = await lockPace(tx, webhookId);
    if (pace === undefined) return [];
    const { most, nextMs } = allowance(pace, limit);
    if (most === 0) {
      await addJobs(tx, [deliverLane(webhookId, nextMs)]);
      return [];
    }
    const { taken, found, mayBeMore } = await leaseDue(tx, nodeId, webhookId, most);
    const pacedUntilMs = pacedAfter(pace, found);
    await record(tx, webhookId, { pacedUntilMs, isOver: pace.isDraining && !mayBeMore });
    if (mayBeMore) await addJobs(tx, [deliverLane(webhookId, nextRoundMs(pace, pacedUntilMs))]);
    return taken;
  });
}

async function lockPace(tx: Transaction, webhookId: string): Promise<Pace | undefined> {
  const [row] = await tx<Pace[]>`
    select drain_per_second as "perSecond", drain_before is not null as "isDraining",
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
      (extract(epoch from paced_until) * 1000)::float8 as paced_until_ms
    from webhooks where id = ${webhookId} and active for no key update`;
  return row;
}

/** How many may be taken now; where there is none, when one may. */
function allowance({ perSecond, ...pace }: Pace, limit: number): { most: number; nextMs: number } {
  if (perSecond === null) return { most: limit, nextMs: pace.now_ms };
  const eachMs = 1_000 / perSecond;
  const fromMs = fullAt({ perSecond, ...pace });
  return { most: Math.min(limit, Math.floor((pace.now_ms - fromMs) / eachMs + ROUNDING)), nextMs: fromMs + eachMs };
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
  await tx`
    update webhooks set paced_until = to_timestamp(${pacedUntilMs}::float8 / 1000)
      ${isOver ? tx`, drain_before = null, drain_per_second = null` : tx``}
    where id = ${webhookId}`;
}
