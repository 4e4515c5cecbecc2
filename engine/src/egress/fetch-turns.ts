import type { ExceededLimit } from '@headwater/shared';

/** Limits of one tenant's requests on a node. */
interface FetchShare {
  /** Requests under way at the same time. */
  maxConnections: number;
  maxFetchesPerSecond: number;
}

export type FetchTurn =
  /** The request may leave; `end`, once, when it is over. */
  | { kind: 'started'; end: () => void }
  /** It waited for as long as it could. */
  | { kind: 'refused'; limit: ExceededLimit }
  | { kind: 'aborted' };

/**
 * Lets the requests of each tenant start in their order, as many at a time and as fast as its share
 * allows.
 */
export interface FetchTurns {
  /** `timeoutMs`: how long the request may wait. */
  take(tenantId: string, share: FetchShare, timeoutMs: number, signal: AbortSignal): Promise<FetchTurn>;
}

/** Unused requests accumulate for ten seconds. */
const BURST_MS = 10_000;

/** Tenants that have nothing under way are forgotten when there are more than these. */
const REMEMBERED_TENANTS = 1_000;

interface Waiter {
  share: FetchShare;
  start: () => void;
}

interface Tenant {
  underWay: number;
  /**
   * When everything that was started would have been, at an even pace: at most BURST_MS from now
   * (GCRA).
   */
  pacedUntilMs: number;
  /** In their order. */
  waiting: Set<Waiter>;
  timer: NodeJS.Timeout | undefined;
}

export function createFetchTurns(nowMs: () => number = () => performance.now()): FetchTurns {
  const tenants = new Map<string, Tenant>();
  let forgetAbove = REMEMBERED_TENANTS;

  function tenantOf(tenantId: string): Tenant {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    if (tenants.size >= forgetAbove) {
      for (const [id, tenant] of tenants) if (isIdle(tenant, nowMs())) tenants.delete(id);
      forgetAbove = Math.max(REMEMBERED_TENANTS, tenants.size * 2);
    }
    const made: Tenant = { underWay: 0, pacedUntilMs: 0, waiting: new Set(), timer: undefined };
    tenants.set(tenantId, made);
    return made;
  }

  function startWhatMayStart(tenant: Tenant): void {
    clearTimeout(tenant.timer);
    for (const waiter of tenant.waiting) {
      if (tenant.underWay >= waiter.share.maxConnections) return;
      const now = nowMs();
      const pacedUntilMs = Math.max(tenant.pacedUntilMs, now) + 1_000 / waiter.share.maxFetchesPerSecond;
      const waitMs = pacedUntilMs - now - BURST_MS;
      if (waitMs > 0) {
        tenant.timer = setTimeout(() => startWhatMayStart(tenant), Math.ceil(waitMs));
        return;
      }
      tenant.pacedUntilMs = pacedUntilMs;
      tenant.underWay++;
      tenant.waiting.delete(waiter);
      waiter.start();
    }
  }

  return {
    take(tenantId, share, timeoutMs, signal) {
      const tenant = tenantOf(tenantId);
      const { promise, resolve } = Promise.withResolvers<FetchTurn>();
      const settle = (turn: FetchTurn) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        tenant.waiting.delete(waiter);
        resolve(turn);
      };
      const end = () => {
        tenant.underWay--;
        startWhatMayStart(tenant);
      };
      const waiter: Waiter = { share, start: () => settle({ kind: 'started', end }) };
      const abort = () => settle({ kind: 'aborted' });
      const timer = setTimeout(() => settle({ kind: 'refused', limit: exceeded(tenant, share) }), timeoutMs);
      signal.addEventListener('abort', abort);
      tenant.waiting.add(waiter);
      startWhatMayStart(tenant);
      return promise;
    },
  };
}

function isIdle(tenant: Tenant, now: number): boolean {
  return tenant.underWay === 0 && tenant.waiting.size === 0 && tenant.pacedUntilMs <= now;
}

/** Which of the two held a request up, asked while it is still among those that wait. */
function exceeded({ underWay, waiting }: Tenant, share: FetchShare): ExceededLimit {
  const { maxConnections, maxFetchesPerSecond } = share;
  if (underWay >= maxConnections) {
    return { name: 'maxConnections', value: maxConnections, used: underWay + waiting.size };
  }
  return { name: 'maxFetchesPerSecond', value: maxFetchesPerSecond, used: maxFetchesPerSecond + waiting.size };
}
