import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPacer, createActiveTenants, LIMITS, type ActiveTenants } from '@headwater/shared';
import { requestsWait } from './requests-wait.ts';

/**
 * Decides when an account's request may be read, because all accounts share the node's one thread.
 * Half a megabyte of body takes it some tens of milliseconds. While other accounts are active, an
 * account's large bodies are read at a pace. On a busy thread, all requests of a heavy account are.
 * Requests that wait stay with their clients.
 */
export interface AccountTurns {
  /**
   * Resolves when the request may be read; undefined: at once. `bytes`: announced body size,
   * undefined for a chunked body. Throws RATE_LIMITED if the wait would exceed
   * LIMITS.maxRequestWaitMs.
   */
  take(accountId: string, bytes: number | undefined): Promise<void> | undefined;
  /** Whether requests of others arrive as well. */
  hasOthers(): boolean;
  /** Whether the account is heavy and a light account is active. */
  mustGiveWay(accountId: string): boolean;
  /** Counts a body that had not announced its length. */
  count(accountId: string, bytes: number): void;
}

export interface AccountTurnsOptions {
  nowMs: () => number;
  /** Pace of large bodies of one account while other accounts are active. */
  bytesPerSecond: number;
  /** Pace of a heavy account's requests while the thread is busy. */
  requestsPerSecond: number;
  isBusy: () => boolean;
  /** Tracks which accounts send requests. Default: a tracker of its own. */
  activeTenants?: ActiveTenants;
}

export function createAccountTurns(options: AccountTurnsOptions): AccountTurns {
  const { nowMs, isBusy, activeTenants = createActiveTenants() } = options;
  const bodies = createPacer();
  const requests = createPacer();

  function addBytes(accountId: string, bytes: number, now: number): void {
    const beyond = Math.max(0, bytes - LIMITS.smallBodyBytes);
    bodies.add(accountId, (beyond / options.bytesPerSecond) * 1_000, now);
  }

  return {
    take(accountId, bytes) {
      const now = nowMs();
      activeTenants.saw(accountId, now);
      if (!activeTenants.hasSeveral(now)) {
        bodies.forget(accountId);
        requests.forget(accountId);
      }
      const isSmall = bytes !== undefined && bytes <= LIMITS.smallBodyBytes;
      const bodyWaitMs = isSmall ? 0 : bodies.owedMs(accountId, now);
      const busy = activeTenants.mustGiveWay(accountId, now) && isBusy();
      const requestWaitMs = busy ? requests.owedMs(accountId, now) - LIMITS.busyBurstMs : 0;
      const waitMs = Math.max(bodyWaitMs, requestWaitMs);
      if (waitMs > LIMITS.maxRequestWaitMs) throw requestsWait(waitMs);
      if (busy) requests.add(accountId, 1_000 / options.requestsPerSecond, now);
      addBytes(accountId, bytes ?? 0, now);
      return waitMs > 0 ? sleep(waitMs, undefined, { ref: false }) : undefined;
    },
    hasOthers: () => activeTenants.hasSeveral(nowMs()),
    mustGiveWay: (accountId) => activeTenants.mustGiveWay(accountId, nowMs()),
    count: (accountId, bytes) => addBytes(accountId, bytes, nowMs()),
  };
}

/** Body size as the request announces it, in bytes; undefined for a chunked body. */
export function announcedBytes({ headers }: Pick<IncomingMessage, 'headers'>): number | undefined {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : undefined;
}
