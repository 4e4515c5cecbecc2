import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountLimits } from '@headwater/shared';
import type { LimitsCache } from './limits-cache.ts';
import type { Log } from '../contract/index.ts';

export interface KnownLimitsOptions {
  limits: Pick<LimitsCache, 'known' | 'get'>;
  /** Limits that had not been known are, or it is worth asking for them again. */
  onKnown: (accountId: string) => void;
  log: Log;
}

/**
 * After limits could not be read, until the next try; and between two lines in the log that say so.
 */
const READ_AGAIN_MS = 2_000;

/**
 * Limits for a caller that cannot wait: undefined while they are not in memory. `onKnown` says when
 * to ask again.
 */
export function createKnownLimits(options: KnownLimitsOptions): (accountId: string) => AccountLimits | undefined {
  const reading = new Set<string>();
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  function warn(err: unknown): void {
    if (performance.now() - warnedAtMs < READ_AGAIN_MS) return;
    warnedAtMs = performance.now();
    options.log.warn({ err }, 'the limits of an account could not be read; its work waits');
  }

  async function read(accountId: string): Promise<void> {
    if (reading.has(accountId)) return;
    reading.add(accountId);
    try {
      await options.limits.get(accountId);
    } catch (error) {
      warn(error);
      await sleep(READ_AGAIN_MS, undefined, { ref: false });
    }
    reading.delete(accountId);
    options.onKnown(accountId);
  }

  return (accountId) => {
    const limits = options.limits.known(accountId);
    if (limits === undefined) void read(accountId);
    return limits;
  };
}
