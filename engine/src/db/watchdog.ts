import type { Log } from '../contract/index.ts';
import type { BatcherWatch } from './batcher.ts';

export interface Watchdog {
  /** For a batcher of `what`, such as "commits of runs". */
  part(what: string): BatcherWatch;
  /**
   * Looked at every `LOOK_EVERY_MS`: `isIdle` says that something waits and nothing of it is at
   * work. Told where that is so for `stuckAfterMs`, while the database answers.
   */
  look(what: string, isIdle: () => boolean): void;
  /** Something was given up, and is done again: told by `problems` for TOLD_MS. */
  tell(what: string, text: string): void;
  /** Parts that make no progress, in words. */
  problems(): string[];
  stop(): void;
}

export interface WatchdogOptions {
  isAway: () => boolean;
  onStuck: (what: string) => void;
  stuckAfterMs: number;
  log: Log;
  nowMs: () => number;
}

const LOOK_EVERY_MS = 1_000;
/** Time after the last sign of trouble until a stuck part counts as recovered. */
const TOLD_MS = 60_000;

/**
 * Detects work that makes no progress although the database answers, and reports it. Its owner has
 * given it up by then.
 */
export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { isAway, onStuck, stuckAfterMs, log, nowMs } = options;
  const stuck = new Map<string, { text: string; atMs: number }>();
  const looks: { what: string; isIdle: () => boolean; sinceMs: number | undefined }[] = [];

  function tell(what: string, text: string): void {
    if (!stuck.has(what)) log.error({ what }, `${text}: it is given up`);
    stuck.set(what, { text, atMs: nowMs() });
    onStuck(what);
  }

  function lookAtAll(): void {
    for (const look of looks) {
      if (isAway() || !look.isIdle()) {
        if (look.sinceMs !== undefined) stuck.delete(look.what);
        look.sinceMs = undefined;
        continue;
      }
      look.sinceMs ??= nowMs();
      if (nowMs() - look.sinceMs < stuckAfterMs) continue;
      if (!stuck.has(look.what)) log.error({ what: look.what }, 'no waiting item makes progress');
      stuck.set(look.what, { text: `${look.what} make no progress`, atMs: nowMs() });
    }
  }

  const timer = setInterval(lookAtAll, LOOK_EVERY_MS).unref();
  return {
    part: (what) => ({
      onStuck: (items) => tell(what, `${items} ${what} did not end within ${stuckAfterMs / 1_000} s`),
      onSettled: () => void stuck.delete(what),
      maxCommitMs: stuckAfterMs,
    }),
    tell: (what, text) => void stuck.set(what, { text, atMs: nowMs() }),
    look: (what, isIdle) => void looks.push({ what, isIdle, sinceMs: undefined }),
    problems() {
      for (const [what, { atMs }] of stuck) if (nowMs() - atMs > TOLD_MS) stuck.delete(what);
      return [...stuck.values()].map(({ text }) => text);
    },
    stop: () => clearInterval(timer),
  };
}
