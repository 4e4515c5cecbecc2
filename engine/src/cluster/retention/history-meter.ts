import { LIMITS } from '@headwater/shared';
import type { HistoryCount } from '../../accounts/history-row-bytes.ts';

/** What this node wrote of one account's history from `beganMs` on, within one part. */
export interface HistoryPart {
  accountId: string;
  beganMs: number;
  bytes: number;
}

/** Counts in memory, until somebody takes it. */
export interface HistoryMeter extends HistoryCount {
  take(): HistoryPart[];
  /** What was taken and could not be stored. */
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
