import type { CountedUse, StatCounter } from '../contract/index.ts';

/** Counts of one subject in one minute, on this node. */
export interface StatPart {
  accountId: string;
  /** A source, workflow or webhook, or the account itself for its totals. */
  subjectId: string;
  beganMs: number;
  counts: Record<StatCounter, number>;
  /** Use of the account itself, if any was counted. */
  use?: Record<CountedUse, number>;
}

/** Counts in memory, which costs a run some hundred nanoseconds. */
export interface StatCount {
  /** For each of the subjects, which belong to the account, and for the account itself. */
  add(accountId: string, subjectIds: readonly string[], counter: StatCounter, by: number): void;
}

/** The same of what the account used. */
export interface UseCount {
  use(accountId: string, counter: CountedUse, by: number): void;
}

export interface StatMeter extends StatCount, UseCount {
  take(): StatPart[];
  /** Counts that were taken and could not be stored. */
  putBack(parts: readonly StatPart[]): void;
}

const STAT_MINUTE_MS = 60_000;

export function createStatMeter(nowMs: () => number): StatMeter {
  let ended: StatPart[] = [];
  let current = new Map<string, StatPart>();
  let beganMs = 0;

  function endMinute(): void {
    for (const part of current.values()) ended.push(part);
    current = new Map();
  }

  function goOn(): void {
    const ms = nowMs();
    const minuteMs = ms - (ms % STAT_MINUTE_MS);
    if (minuteMs === beganMs) return;
    endMinute();
    beganMs = minuteMs;
  }

  function partOf(accountId: string, subjectId: string): StatPart {
    let part = current.get(subjectId);
    if (part === undefined) {
      part = { accountId, subjectId, beganMs, counts: noStats() };
      current.set(subjectId, part);
    }
    return part;
  }

  return {
    add(accountId, subjectIds, counter, by) {
      if (by === 0) return;
      goOn();
      for (const subjectId of subjectIds) partOf(accountId, subjectId).counts[counter] += by;
      partOf(accountId, accountId).counts[counter] += by;
    },
    use(accountId, counter, by) {
      if (by === 0) return;
      goOn();
      const part = partOf(accountId, accountId);
      part.use ??= nothingUsed();
      part.use[counter] += by;
    },
    take() {
      endMinute();
      const taken = ended;
      ended = [];
      return taken;
    },
    putBack(parts) {
      ended = [...parts, ...ended];
    },
  };
}

export function noStats(): Record<StatCounter, number> {
  return { received: 0, emitted: 0, runsOk: 0, runsFailed: 0, delivered: 0, failedAttempts: 0, exhausted: 0 };
}

export function nothingUsed(): Record<CountedUse, number> {
  return { requests: 0, runMs: 0, cpuMs: 0, attempts: 0, bytesIn: 0, bytesOut: 0 };
}
