import { setTimeout as sleep } from 'node:timers/promises';
import { eventChars, type ActiveTenants } from '@headwater/shared';
import type { Deliverer, DueDelivery } from '../../outbox/index.ts';
import type { RunCommit } from './commit-plan.ts';
import type { DeliveryRow } from './event-rows.ts';
import type { Log } from '../../contract/index.ts';
import { restAfterMs } from '../../fairness/index.ts';
import { endsQuietly, quietEnd } from './end-quiet-runs.sql.ts';
import { createCommitBacklog } from './commit-backlog.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { ListenerCounts } from '../counts/listener-counts.ts';
import {
  type BatcherOptions,
  type BatcherWatch,
  createBatcher,
  growingInterval,
  failsEachTime,
  cannotHaveCommitted,
  MAX_LOCK_MS,
  type Sql,
  type Turns,
  wasHeldUp,
  wasRolledBack,
} from '../../db/index.ts';
import { type CommitOptions, type CommittedRun, commitRuns } from './commit-runs.sql.ts';
import { charsOf as charsOfExecution } from './execution-rows.ts';

export interface RunCommitterOptions {
  sql: Sql;
  nodeId: () => string;
  deliverer: Pick<Deliverer, 'capacity' | 'heard' | 'take'> & Partial<Pick<Deliverer, 'sharedCapacity'>>;
  /** Runs the sources that listen. */
  dispatcher: () => Pick<Dispatcher, 'capacity' | 'take' | 'startMore'>;
  onCommitted: (run: RunCommit, committed: CommittedRun) => void;
  listeners: ListenerCounts;
  backlogs: CommitOptions['backlogs'];
  dbSizes?: CommitOptions['dbSizes'];
  history?: CommitOptions['history'];
  stats?: CommitOptions['stats'];
  nowMs: () => number;
  /** Active tenants of the node; heavy commits rest while others are active. Default: no others. */
  activeTenants?: Pick<ActiveTenants, 'hasSeveral'>;
  heavyTurns: Turns;
  watch?: BatcherWatch;
  /** Default MIN_INTERVAL_MS. */
  minIntervalMs?: BatcherOptions<RunCommit, CommittedRun>['minIntervalMs'];
  log: Log;
}

export interface RunCommitter {
  commit(run: RunCommit): Promise<CommittedRun>;
  /**
   * Whether so much of the tenant's output waits for its commit that none of its runs should start.
   */
  isBehind(accountId: string): boolean;
  /** The node stops: no commit is tried for ever any more. */
  stop(): void;
  drain(): Promise<void>;
}

const MAX_BATCH = 256;
/**
 * Rows, plus one for each 8 KB in them: some tens of milliseconds of the database, which delay all
 * other tenants.
 */
const MAX_WEIGHT = 400;
/** Maximum of one tenant while others are active: their next commit waits for this one. */
const MAX_TENANT_WEIGHT = 100;
/**
 * Maximum waiting weight of one tenant: several batches, so that each can be as full as allowed.
 */
const MAX_BACKLOG_WEIGHT = 4 * MAX_WEIGHT;
const ROW_BYTES = 8_192;
/**
 * Commits under load are few and large. The client has its answer already, but a delivery leaves
 * after the commit. So the interval grows with the batch before, and a run that is alone does not
 * wait.
 */
const INTERVAL_MS = growingInterval(10, 5);
/** 0.1 + 0.2 + … seconds, at most MAX_PAUSE_MS between two tries. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
const TELL_EVERY_MS = 5_000;
/** Tries that a commit has once the node stops: about 25 s of a database that does not answer. */
const MAX_LAST_TRIES = 9;
const MAX_PUBLISH_TRIES = 3;

/** Group commit of runs; deliveries that the commit leased for this node go on at once. */
export function createRunCommitter(options: RunCommitterOptions): RunCommitter {
  const restAfter = async (tookMs: number) => {
    if (options.activeTenants?.hasSeveral(performance.now()) === true) await sleep(restAfterMs(tookMs));
  };
  const backlog = createCommitBacklog(MAX_BACKLOG_WEIGHT);
  const weightOf = (run: RunCommit) => weightWith(run, options.listeners.of(run.sourceId));
  const batcher = createBatcher<RunCommit, CommittedRun>({
    maxBatch: MAX_BATCH,
    minIntervalMs: options.minIntervalMs ?? INTERVAL_MS,
    ...(options.watch === undefined ? {} : { watch: options.watch }),
    isItemsFault: failsEachTime,
    isHeldUp: wasHeldUp,
    share: {
      tenantOf: (run) => run.accountId,
      weightOf,
      maxWeight: MAX_WEIGHT,
      maxTenantWeight: MAX_TENANT_WEIGHT,
      charsOf: (run) => charsOf(run),
      heavyTurns: options.heavyTurns,
    },
    commit: (runs, patience) =>
      commitRuns(options.sql, runs, {
        nodeId: options.nodeId(),
        deliveryCapacity: options.deliverer.capacity,
        sharedDeliveryCapacity: options.deliverer.sharedCapacity,
        runCapacity: options.dispatcher().capacity,
        backlogs: options.backlogs,
        dbSizes: options.dbSizes,
        history: options.history,
        stats: options.stats,
        restAfter,
        maxLockMs: MAX_LOCK_MS[patience],
        nowMs: options.nowMs,
      }),
  });

  let isStopping = false;
  const retrying = { ...options, isStopping: () => isStopping, tellRetry: createRetryLog(options.log) };

  async function commit(run: RunCommit): Promise<CommittedRun> {
    if (run.invocation?.isUnstored === true && endsQuietly(run)) return endUnstored(run, options);
    const readAt = options.deliverer.heard();
    if (run.emits.length > 0) await options.listeners.learn(run.accountId, run.sourceId);
    const weight = weightOf(run);
    backlog.add(run.accountId, weight);
    const committed = await commitWithRetries(batcher.add, run, retrying).finally(() => {
      if (backlog.remove(run.accountId, weight)) options.dispatcher().startMore();
    });
    if (committed.deliveries.length > 0) options.deliverer.take(committed.deliveries.map(dueDelivery), readAt);
    if (committed.invocations.length > 0) options.dispatcher().take(committed.invocations);
    options.onCommitted(run, committed);
    return committed;
  }

  return {
    commit,
    isBehind: backlog.isFull,
    stop() {
      isStopping = true;
    },
    drain: () => batcher.drain(),
  };
}

interface Retrying extends RunCommitterOptions {
  isStopping: () => boolean;
  tellRetry: (about: { source: string; tries: number; err: unknown }) => void;
}

/**
 * One line for all that fail within a time: while the database is away thousands of commits are
 * tried again.
 */
function createRetryLog(log: Log): Retrying['tellRetry'] {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let failures = 0;
  return (about) => {
    failures++;
    if (performance.now() - toldAtMs < TELL_EVERY_MS) return;
    log.warn({ ...about, failures }, 'a commit failed and is tried again');
    toldAtMs = performance.now();
    failures = 0;
  };
}

/**
 * Retries until the results are stored, however long the database is away, because a second run
 * would repeat external effects. If another node has taken the invocation, the commit writes
 * nothing.
 */
async function commitWithRetries(
  add: (run: RunCommit) => Promise<CommittedRun>,
  run: RunCommit,
  options: Retrying,
  isBare = false,
): Promise<CommittedRun> {
  for (let tries = 1; ; tries++) {
    try {
      return await add(run);
    } catch (error) {
      // A client waits for the answer, and can try again itself.
      const isTriedAgain = wasRolledBack(error) && !failsEachTime(error) && tries < MAX_PUBLISH_TRIES;
      if (run.publishedAs !== undefined && !isTriedAgain) throw error;
      if (failsEachTime(error) && !isBare) {
        // The execution's runner decides.
        if (run.execution !== undefined) throw error;
        if (run.final) return commitWithRetries(add, withoutItsData(run, error, options), options, true);
      }
      // Tried again, a commit that went through unseen finds its invocation gone and writes nothing
      // twice. A part of a run has no such mark, nor has a hook or a run that was not stored: they
      // are tried again only where nothing went through.
      const hasMark = run.final && run.invocation !== undefined && run.invocation.isUnstored !== true;
      const mayBeThere = !hasMark && !cannotHaveCommitted(error);
      if (mayBeThere || (options.isStopping() && tries >= MAX_LAST_TRIES)) throw error;
      options.tellRetry({ source: run.sourceId, tries, err: error });
      await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)));
    }
  }
}

function weightWith(run: RunCommit, listeners: number): number {
  const { emits, dbWrites } = run;
  const copies = Math.max(1, listeners);
  return 1 + emits.length * copies + dbWrites.size + charsOf(run, copies) / ROW_BYTES;
}

/** `copies`: of each event. */
function charsOf({ emits, dbWrites, record, execution, sends = [] }: RunCommit, copies = 1): number {
  let chars = (record?.logs.length ?? 0) + (execution === undefined ? 0 : charsOfExecution(execution));
  for (const { payload, sealed } of sends) chars += payload.length + (sealed?.length ?? 0);
  for (const event of emits) chars += copies * eventChars(event);
  for (const value of dbWrites.values()) chars += value.length;
  return chars;
}

/** There is no row to end either. */
function endUnstored(run: RunCommit, { stats, onCommitted }: RunCommitterOptions): CommittedRun {
  const ended = quietEnd(run, stats);
  onCommitted(run, ended);
  return ended;
}

/**
 * The results cannot be stored, so the invocation ends as failed. Otherwise it would come back
 * forever.
 */
function withoutItsData(run: RunCommit, error: unknown, options: RunCommitterOptions): RunCommit {
  const nowMs = options.nowMs();
  options.log.error({ source: run.sourceId, err: error }, 'the outputs of a run could not be stored');
  return {
    ...run,
    emits: [],
    dbWrites: new Map(),
    record: {
      id: run.record?.id ?? run.invocation?.id ?? `${run.sourceId}@${nowMs}`,
      kind: run.record?.kind ?? 'run',
      errorCode: 'INTERNAL',
      errorMessage: 'The events or values of this run could not be stored',
      logs: '[]',
      startedAtMs: run.record?.startedAtMs ?? nowMs,
      endedAtMs: nowMs,
    },
  };
}

function dueDelivery({ id, event, listener }: DeliveryRow): DueDelivery {
  const traceId = event.cause?.traceId ?? event.invocationId;
  return {
    id,
    accountId: event.accountId,
    webhookId: listener.webhookId,
    url: listener.url,
    sealedSecret: listener.sealedSecret,
    format: listener.format,
    ...(listener.settings === undefined ? {} : { settings: listener.settings }),
    emitterId: event.emitterId,
    indexedAtMs: event.position.ms,
    seq: event.position.seq,
    ...(traceId === null ? {} : { traceId }),
    channel: event.channel,
    data: event.data,
    ...(event.ts === null ? {} : { ts: event.ts }),
    attemptCount: 0,
  };
}
