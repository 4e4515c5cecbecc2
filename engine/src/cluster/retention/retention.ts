import { LIMITS } from '@headwater/shared';
import { expireAudit, expireUsage } from '../../observe/index.ts';
import { every, type Sql } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import {
  deleteEmptiedEmitters,
  deleteExpiredDeliveries,
  deleteExpiredEvents,
  deleteExpiredExecutions,
  deleteExpiredLiveLines,
  deleteExpiredMissed,
  deleteExpiredRuns,
  deleteExpiredSends,
  type Expiry,
} from './delete-expired.sql.ts';
import { expireIdempotencyKeys } from '../../accounts/index.ts';
import { expirePeople } from '../../people/index.ts';
import { expirePublishedIds, trimAbandonedRuns } from '../../runs/index.ts';
import { expireSampleRequests } from '../../outbox/index.ts';
import { deleteLeftValues } from '../../sources/index.ts';
import { deleteExpiredTraces, deleteOldTraces } from './delete-trace-contexts.sql.ts';
import { deleteUnusedVersions, markUnusedVersions, type VersionExpiry } from './delete-unused-versions.sql.ts';
import { type KeptDays, readEmittersKeptDays, readWebhooksKeptDays, readWorkflowsKept } from './read-kept-days.sql.ts';

export interface RetentionOptions {
  sql: Sql;
  /** Days that events are kept of accounts for which nothing else is set; 0 is for ever. */
  defaultDays: number;
  /** Newest versions of a workflow that are always kept, for accounts without their own setting. */
  defaultVersions: number;
  /** Days that entries of the audit log are kept. Default 365. */
  defaultAuditDays?: number;
  nowMs: () => number;
  log: Log;
}

/** Emitters (and webhooks) that one turn looks at, and rows of each kind that it deletes. */
const TURN_EMITTERS = 200;
const TURN_ROWS = 1_000;
/** Once there is nothing left to delete. */
const PAUSE_MS = 10_000;
/**
 * Turns one after the other with the same emitters: what one account writes as fast as it can keeps
 * none from the others' turn.
 */
const MAX_STAY = 10;
/**
 * So many times as long as a turn took that found nothing to delete is the pause before the next
 * ones are looked at.
 */
const LOOKING_PAUSES = 10;
/** Between two looks at abandoned runs, which are few. */
const TRIM_EVERY_MS = 60_000;
const PUBLISHED_IDS_MS = LIMITS.publishedIdHours * 3600 * 1000;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Deletes what is older than its account keeps it, in small turns beside everything else: events
 * and records of runs and executions emitter by emitter, what is left of deleted ones, deliveries
 * webhook by webhook, versions of workflows that nothing uses. Where there is much to delete it
 * takes half of one connection's time. Answers a stop that waits for the turn under way.
 */
export function startRetention(options: RetentionOptions): () => Promise<void> {
  const turn = createRetention(options);
  let pauseMs = PAUSE_MS;
  return every(
    () => pauseMs,
    async () => {
      pauseMs = PAUSE_MS;
      const startMs = performance.now();
      pauseMs = pauseAfter(await turn(), performance.now() - startMs);
    },
    (err) => options.log.error({ err }, 'deleting expired rows failed'),
  );
}

/** How long to wait after a turn that took so long. */
export function pauseAfter(left: Left, tookMs: number): number {
  if (left === 'nothing') return PAUSE_MS;
  return left === 'much' ? tookMs : Math.min(PAUSE_MS, tookMs * LOOKING_PAUSES);
}

/**
 * Rest after a turn. `much`: more than one turn deletes. `more`: some owners were not checked yet.
 * `nothing`: all were checked.
 */
type Left = 'much' | 'more' | 'nothing';

/** Answers one turn; each goes on where the one before ended. */
export function createRetention(options: Omit<RetentionOptions, 'log'>): () => Promise<Left> {
  const { sql, defaultDays, nowMs } = options;
  const emitters = createRound((after) => readEmittersKeptDays(sql, { after, limit: TURN_EMITTERS, defaultDays }));
  const webhooks = createRound((after) => readWebhooksKeptDays(sql, { after, limit: TURN_EMITTERS, defaultDays }));
  const workflows = createRound((after) => readWorkflowsKept(sql, { ...options, after, limit: TURN_EMITTERS }));
  const isFull = (count: number) => count >= TURN_ROWS;
  let trimAtMs = 0;

  return async () => {
    const leftOfEmitters = await emitters(async (kept) => {
      const expiries = expiriesOf(kept, nowMs());
      const events = await deleteExpiredEvents(sql, expiries, TURN_ROWS);
      const runs = await deleteExpiredRuns(sql, expiries, TURN_ROWS);
      const lines = await deleteExpiredLiveLines(sql, expiries, TURN_ROWS);
      const sends = await deleteExpiredSends(sql, expiries, TURN_ROWS);
      const executions = await deleteExpiredExecutions(sql, expiries, TURN_ROWS);
      const missed = await deleteExpiredMissed(sql, expiries, TURN_ROWS);
      const traces = await deleteExpiredTraces(sql, expiries, TURN_ROWS);
      const ids = kept.map(({ id }) => id);
      const values = await deleteLeftValues(sql, ids, TURN_ROWS);
      // With any of them gone the turn has looked at fewer than it may.
      const isShorter = (await deleteEmptiedEmitters(sql, ids)) > 0;
      return isShorter || [events, runs, lines, sends, executions, missed, traces, values].some(isFull);
    });
    const leftOfWebhooks = await webhooks(async (kept) =>
      isFull(await deleteExpiredDeliveries(sql, expiriesOf(kept, nowMs()), TURN_ROWS)),
    );
    // After their executions: what is left of those is why a version is kept.
    const leftOfWorkflows = await workflows(async (kept) => {
      const expiries = versionExpiries(kept, nowMs());
      await markUnusedVersions(sql, expiries, { nowMs: nowMs(), limit: TURN_ROWS });
      return isFull(await deleteUnusedVersions(sql, expiries, TURN_ROWS));
    });
    if (nowMs() >= trimAtMs) {
      const trimmed = await trimAbandonedRuns(sql, TURN_ROWS);
      const expired = await expireSampleRequests(sql, nowMs() - LIMITS.sampleRequestsKeptMs, TURN_ROWS);
      const forgotten = await expirePublishedIds(sql, nowMs() - PUBLISHED_IDS_MS, TURN_ROWS);
      const keys = await expireIdempotencyKeys(sql, TURN_ROWS);
      const audit = await expireAudit(sql, options.defaultAuditDays ?? 365, TURN_ROWS);
      const people = await expirePeople(sql, TURN_ROWS);
      const usage = await expireUsage(sql, LIMITS.usageKeptDays, TURN_ROWS);
      const traces = await deleteOldTraces(sql, LIMITS.traceContextKeptDays, TURN_ROWS);
      const isMuch = [trimmed, expired, forgotten, keys, audit, people, usage, traces].some(isFull);
      trimAtMs = isMuch ? 0 : nowMs() + TRIM_EVERY_MS;
    }
    const all = [leftOfEmitters, leftOfWebhooks, leftOfWorkflows];
    return (['much', 'more'] as const).find((left) => all.includes(left)) ?? 'nothing';
  };
}

/**
 * Goes round a list of ids, some at a time; those with which `work` was not through are its again,
 * for some turns. It begins with another of them each time: what it may delete in one turn is
 * deleted of the first ones.
 */
function createRound<T extends KeptDays>(read: (after: string) => Promise<T[]>) {
  let after = '';
  let stays = 0;
  /** Some were left with more to delete: in this round, and in the one before. */
  let isBehind = false;
  let wasBehind = false;
  return async (work: (kept: readonly T[]) => Promise<boolean>): Promise<Left> => {
    const kept = await read(after);
    const isBusy = await work(fromAnywhere(kept));
    if (isBusy && ++stays < MAX_STAY) return 'much';
    stays = 0;
    isBehind ||= isBusy;
    const isMuch = isBehind || wasBehind;
    const isLast = kept.length < TURN_EMITTERS;
    after = isLast ? '' : (kept.at(-1)?.id ?? '');
    if (isLast) [wasBehind, isBehind] = [isBehind, false];
    return isMuch ? 'much' : isLast ? 'nothing' : 'more';
  };
}

function fromAnywhere<T>(items: readonly T[]): T[] {
  const at = Math.floor(Math.random() * items.length);
  return [...items.slice(at), ...items.slice(0, at)];
}

function versionExpiries(kept: readonly (KeptDays & { versions: number })[], nowMs: number): VersionExpiry[] {
  const versions = new Map(kept.map((one) => [one.id, one.versions]));
  return expiriesOf(kept, nowMs).map((expiry) => ({ ...expiry, keptVersions: versions.get(expiry.id) ?? 1 }));
}

/** By their days, or because their account has more than it may keep: whichever is later. */
function expiriesOf(kept: readonly KeptDays[], nowMs: number): Expiry[] {
  return kept
    .map(({ id, days, keptFromMs }) => ({
      id,
      beforeMs: Math.max(days > 0 ? Math.floor(nowMs - days * DAY_MS) : 0, keptFromMs),
    }))
    .filter(({ beforeMs }) => beforeMs > 0);
}
