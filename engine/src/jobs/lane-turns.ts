import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, type Presence } from '@headwater/shared';
import type { Log } from '../log.ts';
import { restAfterMs } from '../rest-after.ts';
import { pauseAtPaceMs } from '../run/end-at-pace.ts';

/**
 * Turns of tenants at claiming. A tenant may have a thousand lanes that are due in the same second: they would have all connections to the
 * database, and what they bring would come at once. So while others are here, one of a tenant claims at a time, for half of the time where somebody else is not busy,
 * and large texts at a pace: each passes the database, the node's thread and a sandbox or a connection.
 */
export interface LaneTurns {
  /**
   * Claims now, or later where another lane of the tenant is at it. Resolves when that has ended, or waits for its turn: the job is
   * done then, so that it keeps no other tenant's from its worker. What waits when the node is lost is queued anew by who takes over from it.
   */
  run(tenantId: string, laneId: string, claim: Claim): Promise<void>;
  /** Starts nothing new; resolves, when the last claim has ended, with the lanes that still wait. */
  stop(): Promise<string[]>;
}

export interface LaneTurnsOptions {
  presence: Presence;
  log: Log;
}

/** Answers how many characters it has brought. */
type Claim = () => Promise<number>;

const PACE = { smallChars: LIMITS.smallClaimChars, charsPerSecond: LIMITS.claimCharsPerSecond };

interface Tenant {
  claiming: number;
  waiting: Map<string, Claim>;
}

export function createLaneTurns({ presence, log }: LaneTurnsOptions): LaneTurns {
  const tenants = new Map<string, Tenant>();
  const rounds = new Set<Promise<void>>();
  let isStopping = false;
  const hasOthers = () => presence.hasSeveral(performance.now());

  async function claimNow(tenantId: string, tenant: Tenant, claim: Claim): Promise<void> {
    tenant.claiming++;
    const beganMs = performance.now();
    let chars = 0;
    try {
      chars = await claim();
    } finally {
      const round = claimNext(tenantId, tenant, { tookMs: performance.now() - beganMs, chars });
      rounds.add(round);
      void round.then(() => rounds.delete(round));
    }
  }

  /** Never rejects. */
  async function claimNext(tenantId: string, tenant: Tenant, last: { tookMs: number; chars: number }): Promise<void> {
    const pauseMs = pauseAtPaceMs(last.chars, PACE);
    const rests = tenant.waiting.size > 0 && presence.hasLightOther(tenantId, performance.now());
    const restMs = rests ? Math.max(restAfterMs(last.tookMs), pauseMs) : pauseMs;
    if (restMs > 0 && hasOthers()) await sleep(restMs);
    tenant.claiming--;
    const [next] = tenant.waiting;
    if (next !== undefined && !isStopping) {
      const [laneId, claim] = next;
      tenant.waiting.delete(laneId);
      await claimNow(tenantId, tenant, claim).catch((err: unknown) => {
        log.warn({ lane: laneId, err }, 'a lane was not claimed; it is tried again when it is found as stalled');
      });
    }
    const isIdle = tenant.claiming === 0 && tenant.waiting.size === 0;
    if (isIdle && tenants.get(tenantId) === tenant) tenants.delete(tenantId);
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
