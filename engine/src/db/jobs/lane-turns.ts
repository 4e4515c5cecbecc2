import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, type ActiveTenants } from '@headwater/shared';
import type { Log } from '../../contract/index.ts';
import { pauseAtPaceMs, restAfterMs } from '../../fairness/index.ts';

/**
 * Turns of tenants at claiming lanes. A thousand lanes of one tenant may be due in the same second.
 * They would take all database connections, and their rows would arrive at once. So while other
 * tenants are active, a tenant claims one lane at a time. While a light tenant is active, it claims
 * for half of the time. Large texts are paced: each passes the database, the node's thread and a
 * sandbox or a connection.
 */
export interface LaneTurns {
  /**
   * Claims now, or later if another lane of the tenant is claiming. Resolves when the claim has
   * ended or waits for its turn: then the job is done and its worker is free for other tenants. If
   * the node dies, the node that takes over queues waiting claims again. Rejects if the claim fails
   * or is late: the job is retried. A lane without a job waits for another turn.
   */
  run(tenantId: string, laneId: string, claim: Claim): Promise<void>;
  /**
   * Starts nothing new; resolves, when the last claim has ended, with the lanes that still wait.
   */
  stop(): Promise<string[]>;
}

export interface LaneTurnsOptions {
  activeTenants: ActiveTenants;
  /** After which a claim is late, and its tenant's next lane has its turn. Default CLAIM_MS. */
  claimMs?: number;
  log: Log;
}

/** Answers how many characters it has brought. */
type Claim = () => Promise<number>;

/** Claims take milliseconds. One that takes so long waits for something that may not come. */
const CLAIM_MS = 10_000;
/** After a claim that failed or is late, before the tenant's next one. */
const FAILED_PAUSE_MS = 500;

const PACE = { smallChars: LIMITS.smallBatchChars, charsPerSecond: LIMITS.batchCharsPerSecond };

interface LastClaim {
  tookMs: number;
  /** Undefined if the claim failed or is late. */
  claimed: { chars: number } | undefined;
}

interface Tenant {
  claiming: number;
  waiting: Map<string, Claim>;
}

export function createLaneTurns({ activeTenants, claimMs = CLAIM_MS, log }: LaneTurnsOptions): LaneTurns {
  const tenants = new Map<string, Tenant>();
  const rounds = new Set<Promise<void>>();
  let isStopping = false;
  const hasOthers = () => activeTenants.hasSeveral(performance.now());

  async function claimNow(tenantId: string, tenant: Tenant, claim: Claim): Promise<void> {
    tenant.claiming++;
    const beganMs = performance.now();
    let claimed: { chars: number } | undefined;
    try {
      claimed = { chars: await inClaimTime(claim, claimMs) };
    } finally {
      const round = claimNext(tenantId, tenant, { tookMs: performance.now() - beganMs, claimed });
      rounds.add(round);
      void round.then(() => rounds.delete(round));
    }
  }

  /** Never rejects. */
  async function claimNext(tenantId: string, tenant: Tenant, last: LastClaim): Promise<void> {
    if (last.claimed === undefined) await sleep(FAILED_PAUSE_MS);
    else await rest(tenantId, tenant, { tookMs: last.tookMs, ...last.claimed });
    tenant.claiming--;
    const [next] = tenant.waiting;
    if (next !== undefined && !isStopping) {
      const [laneId, claim] = next;
      tenant.waiting.delete(laneId);
      await claimNow(tenantId, tenant, claim).catch((err: unknown) => {
        log.warn({ lane: laneId, err }, 'a lane was not claimed; it waits for another turn');
        // Its job is done. One that was added meanwhile is no other lane.
        if (!tenant.waiting.has(laneId)) tenant.waiting.set(laneId, claim);
      });
    }
    const isIdle = tenant.claiming === 0 && tenant.waiting.size === 0;
    if (isIdle && tenants.get(tenantId) === tenant) tenants.delete(tenantId);
  }

  async function rest(tenantId: string, tenant: Tenant, last: { tookMs: number; chars: number }): Promise<void> {
    const pauseMs = pauseAtPaceMs(last.chars, PACE);
    const rests = tenant.waiting.size > 0 && activeTenants.hasLightOther(tenantId, performance.now());
    const restMs = rests ? Math.max(restAfterMs(last.tookMs), pauseMs) : pauseMs;
    if (restMs > 0 && hasOthers()) await sleep(restMs);
  }

  return {
    async run(tenantId, laneId, claim) {
      const tenant = tenants.get(tenantId) ?? { claiming: 0, waiting: new Map() };
      tenants.set(tenantId, tenant);
      if (tenant.claiming === 0 || !hasOthers()) await claimNow(tenantId, tenant, claim);
      else tenant.waiting.set(laneId, claim);
    },
    async stop() {
      isStopping = true;
      while (rounds.size > 0) await Promise.all(rounds);
      return [...tenants.values()].flatMap(({ waiting }) => [...waiting.keys()]);
    },
  };
}

/**
 * Bounds the wait for a claim. A late claim still completes and its rows run, but other lanes do
 * not wait for it.
 */
async function inClaimTime(claim: Claim, claimMs: number): Promise<number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`The lane was not claimed within ${claimMs} ms`)), claimMs);
  const claiming = claim();
  // Avoids an unhandled rejection of a late claim.
  claiming.catch(() => undefined);
  try {
    return await Promise.race([claiming, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
