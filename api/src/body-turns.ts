import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError, LIMITS } from '@headwater/shared';

/**
 * When a large body may be read. Whatever it is about, one of half a megabyte is some tenths of a second of processor time until
 * its event is stored, much of it of the node's only thread. So while others are here as well, an account's large bodies are
 * read at a pace; the rest waits at its client.
 */
export interface BodyTurns {
  /**
   * Resolves when the body may be read; undefined: at once. `bytes` as announced, 0 where they are not. Throws RATE_LIMITED
   * where it would have to wait for more than LIMITS.maxBodyWaitMs.
   */
  take(accountId: string, bytes: number): Promise<void> | undefined;
  /** Counts a body that had not announced its length. */
  count(accountId: string, bytes: number): void;
}

export interface BodyTurnsOptions {
  nowMs: () => number;
  /** Of one account, while others are here. */
  bytesPerSecond: number;
}

export function createBodyTurns({ nowMs, bytesPerSecond }: BodyTurnsOptions): BodyTurns {
  /** When what an account has sent so far is paid for; only of those for which that is yet to come. */
  const paidAtMs = new Map<string, number>();
  const others = createPresence();

  function add(accountId: string, bytes: number, now: number): number {
    const before = Math.max(now, paidAtMs.get(accountId) ?? 0);
    const costMs = (Math.max(0, bytes - LIMITS.smallBodyBytes) / bytesPerSecond) * 1_000;
    if (costMs > 0) {
      for (const [other, atMs] of paidAtMs) if (atMs <= now) paidAtMs.delete(other);
      paidAtMs.set(accountId, before + costMs);
    }
    return before;
  }

  return {
    take(accountId, bytes) {
      const now = nowMs();
      const alone = others.areAway(accountId, now);
      if (alone) paidAtMs.delete(accountId);
      if (bytes <= LIMITS.smallBodyBytes && bytes > 0) return undefined;
      const waitMs = (paidAtMs.get(accountId) ?? 0) - now;
      if (waitMs > LIMITS.maxBodyWaitMs) throw tooMuch(waitMs);
      add(accountId, bytes, now);
      return waitMs > 0 ? sleep(waitMs, undefined, { ref: false }) : undefined;
    },
    count: (accountId, bytes) => void add(accountId, bytes, nowMs()),
  };
}

/** 0 where the request does not say. */
export function announcedBytes({ headers }: Pick<IncomingMessage, 'headers'>): number {
  return Number(headers['content-length'] ?? 0);
}

/** Whether somebody else has sent anything lately. */
function createPresence(): { areAway(accountId: string, nowMs: number): boolean } {
  let last = '';
  let lastAtMs = Number.NEGATIVE_INFINITY;
  /** Of whoever came before `last` did. */
  let beforeAtMs = Number.NEGATIVE_INFINITY;
  return {
    areAway(accountId, nowMs) {
      if (accountId !== last) {
        beforeAtMs = lastAtMs;
        last = accountId;
      }
      lastAtMs = nowMs;
      return nowMs - beforeAtMs > LIMITS.othersPresentMs;
    },
  };
}

function tooMuch(waitMs: number): HeadwaterError {
  return new HeadwaterError('RATE_LIMITED', 'Large bodies of this account wait for each other; try again later', {
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}
