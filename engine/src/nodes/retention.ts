import { LIMITS } from '@headwater/shared';
import { every } from '../every.ts';
import type { Log } from '../log.ts';
import type { Sql } from '../store/database.ts';
import {
  deleteExpiredDeliveries,
  deleteExpiredEvents,
  deleteExpiredExecutions,
  deleteExpiredMissed,
  deleteExpiredRuns,
  deleteExpiredSends,
  type Expiry,
} from '../store/delete-expired.ts';
import { deleteEmptiedEmitters } from '../store/delete-emptied-emitters.ts';
import { deleteUnusedVersions, markUnusedVersions, type VersionExpiry } from '../store/delete-unused-versions.ts';
import {
  type KeptDays,
  readEmittersKeptDays,
  readWebhooksKeptDays,
  readWorkflowsKept,
} from '../store/read-kept-days.ts';

export interface RetentionOptions {
  sql: Sql;
  /** Days that events are kept of accounts for which nothing else is set; 0 is for ever. */
  defaultDays: number;
  /** Of such accounts: how many of the newest versions of a workflow are kept in any case. */
  defaultVersions: number;
  nowMs: () => number;
  log: Log;
}

/** Emitters (and webhooks) that one turn looks at, and rows of each kind that it deletes. */
const TURN_EMITTERS = 200;
const TURN_ROWS = 1_000;
const PAUSE_MS = 10_000;
/** Turns one after the other where each finds as much as it may delete. */
const MAX_TURNS = 40;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Deletes what is older than its account keeps it, in small turns beside everything else: events and records of runs and
 * executions emitter by emitter, what is left of deleted ones, deliveries webhook by webhook, versions of workflows that nothing uses. Answers a stop that waits for the turn under way.
 */
export function startRetention(options: RetentionOptions): () => Promise<void> {
  const turn = createRetention(options);
  let isStopping = false;
  const stop = every(
    PAUSE_MS,
    async () => {
      for (let turns = 0; turns < MAX_TURNS && !isStopping; turns++) if (!(await turn())) return;
    },
    (err) => options.log.error({ err }, 'deleting what has expired failed'),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

/** Answers one turn; each goes on where the one before ended. True: there was more than one turn deletes. */
export function createRetention(options: Omit<RetentionOptions, 'log'>): () => Promise<boolean> {
  const { sql, defaultDays, nowMs } = options;
  const emitters = createRound((after) => readEmittersKeptDays(sql, { after, limit: TURN_EMITTERS, defaultDays }));
  const webhooks = createRound((after) => readWebhooksKeptDays(sql, { after, limit: TURN_EMITTERS, defaultDays }));
  const workflows = createRound((after) => readWorkflowsKept(sql, { ...options, after, limit: TURN_EMITTERS }));
  const isFull = (count: number) => count >= TURN_ROWS;

  return async () => {
    const busyEmitters = await emitters(async (kept) => {
      const expiries = expiriesOf(kept, nowMs());
      const events = await deleteExpiredEvents(sql, expiries, TURN_ROWS);
      const runs = await deleteExpiredRuns(sql, expiries, TURN_ROWS);
      const sends = await deleteExpiredSends(sql, expiries, TURN_ROWS);
      const executions = await deleteExpiredExecutions(sql, expiries, TURN_ROWS);
      const missed = await deleteExpiredMissed(sql, missedExpiries(kept, nowMs()), TURN_ROWS);
      const ids = kept.map(({ id }) => id);
      // With any of them gone the turn has looked at fewer than it may.
      const isShorter = (await deleteEmptiedEmitters(sql, ids)) > 0;
      return isShorter || [events, runs, sends, executions, missed].some(isFull);
    });
    const busyWebhooks = await webhooks(async (kept) =>
      isFull(await deleteExpiredDeliveries(sql, expiriesOf(kept, nowMs()), TURN_ROWS)),
    );
    // After their executions: what is left of those is why a version is kept.
    if (busyEmitters) return true;
    const busyWorkflows = await workflows(async (kept) => {
      const expiries = versionExpiries(kept, nowMs());
      await markUnusedVersions(sql, expiries, { nowMs: nowMs(), limit: TURN_ROWS });
      return isFull(await deleteUnusedVersions(sql, expiries, TURN_ROWS));
    });
    return busyWebhooks || busyWorkflows;
  };
}

/** Goes round a list of ids, some at a time; those with which `work` was not through are its again. */
function createRound<T extends KeptDays>(read: (after: string) => Promise<T[]>) {
  let after = '';
  return async (work: (kept: readonly T[]) => Promise<boolean>): Promise<boolean> => {
    const kept = await read(after);
    const isBusy = await work(kept);
    if (!isBusy) after = kept.length < TURN_EMITTERS ? '' : (kept.at(-1)?.id ?? '');
    return isBusy;
  };
}

/** Notes of what was missed: also where everything else is kept for ever. */
function missedExpiries(kept: readonly KeptDays[], nowMs: number): Expiry[] {
  const most = LIMITS.missedEventDays;
  const days = kept.map(({ id, days: all }) => ({ id, days: all > 0 ? Math.min(all, most) : most }));
  return expiriesOf(days, nowMs);
}

function versionExpiries(kept: readonly (KeptDays & { versions: number })[], nowMs: number): VersionExpiry[] {
  const versions = new Map(kept.map((one) => [one.id, one.versions]));
  return expiriesOf(kept, nowMs).map((expiry) => ({ ...expiry, keptVersions: versions.get(expiry.id) ?? 1 }));
}

function expiriesOf(kept: readonly KeptDays[], nowMs: number): Expiry[] {
  const limited = kept.filter(({ days }) => days > 0);
  return limited.map(({ id, days }) => ({ id, beforeMs: Math.floor(nowMs - days * DAY_MS) }));
}
