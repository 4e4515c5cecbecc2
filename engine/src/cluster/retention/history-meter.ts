import { LIMITS } from '@headwater/shared';
import type { HistoryCount } from '../../accounts/index.ts';

/** Bytes that this node wrote to one account's history in the part that begins at `beganMs`. */
export interface HistoryPart {
  accountId: string;
  beganMs: number;
  bytes: number;
}

/** Counts in memory until `take`. */
export interface HistoryMeter extends HistoryCount {
  take(): HistoryPart[];
  /** Adds back bytes that could not be stored. */
  putBack(parts: readonly HistoryPart[]): void;
}

export function createHistoryMeter(nowMs: () => number): HistoryMeter {
  let parts = new Map<string, HistoryPart>();

  function count({ accountId, beganMs, bytes }: HistoryPart): void {
    const key = `${beganMs} ${accountId}`;
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { accountId, beganMs, bytes });
    else part.bytes += bytes;
  }

  return {
    add(accountId, bytes) {
      const ms = nowMs();
      if (bytes > 0) count({ accountId, beganMs: ms - (ms % LIMITS.historyPartMs), bytes });
    },
    take() {
      const taken = [...parts.values()];
      parts = new Map();
      return taken;
    },
    putBack: (taken) => taken.forEach(count),
  };
}
