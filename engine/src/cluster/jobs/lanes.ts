import type { ActiveTenants } from '@headwater/shared';
import { deleteSomeOfAccount, deletionJob, type LimitsCache } from '../../accounts/index.ts';
import type { Log } from '../../contract/index.ts';
import {
  addJobs,
  createBatcher,
  createLaneTurns,
  createPostponedLanes,
  type DeleteAccountPayload,
  type DeliverAccountPayload,
  type DeliverWebhookPayload,
  type FireTimerPayload,
  type JobRunner,
  type ReplayEventsPayload,
  type RunSourcePayload,
  type SendPayload,
  type Sql,
  startJobRunner,
  TASKS,
  type WakeExecutionPayload,
  type WebhookBacklogPayload,
} from '../../db/index.ts';
import { restAfterMs } from '../../fairness/index.ts';
import { type Deliverer, type SendRunner, workOffBacklog } from '../../outbox/index.ts';
import { addRunLanes, createReplayer, type Dispatcher, type ReplayerOptions } from '../../runs/index.ts';
import { type Turns, wakeExecutions } from '../../workflows/index.ts';
import type { NodeLease } from '../node-lease.ts';
import { recordJobPool } from '../nodes.sql.ts';
import { createTicker, type TickerOptions } from './fire-timer.ts';
import { runSourceLane } from './run-source.ts';

const BATCH_ROWS = 2_000;
/**
 * Delay of the last check after everything is deleted. It finds rows that a node committed before
 * it heard of the deletion.
 */
const SECOND_LOOK_MS = 60_000;

/**
 * One batch of an account's deletion. The job comes back until nothing is left, after a pause as
 * long as the batch: other tenants' work goes on. If a node dies, the next batch continues its
 * work.
 */
function createAccountDeleter(sql: Sql): (payload: DeleteAccountPayload) => Promise<void> {
  return async ({ accountId, isSecondLook = false }) => {
    const beganMs = performance.now();
    const hasMore = await deleteSomeOfAccount(sql, accountId, BATCH_ROWS);
    const restMs = restAfterMs(performance.now() - beganMs);
    if (hasMore) return addJobs(sql, [deletionJob(accountId, Date.now() + restMs)]);
    if (isSecondLook) return;
    const job = deletionJob(accountId, Date.now() + SECOND_LOOK_MS);
    await addJobs(sql, [{ ...job, payload: { accountId, isSecondLook: true } }]);
  };
}

const MAX_BATCH = 64;
/** Those that wake together share a transaction; one that comes alone does not wait. */
const MIN_INTERVAL_MS = 5;

/** Wakes executions that have waited. Rejects where that is to be tried again. */
export function createWaker(sql: Sql): (payload: WakeExecutionPayload) => Promise<void> {
  const batcher = createBatcher<string, void>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    commit: async (ids) => {
      await wakeExecutions(sql, ids);
      return ids.map(() => undefined);
    },
  });
  return ({ executionId }) => batcher.add(executionId);
}

export interface LanesOptions {
  /** URL of the host in use now. */
  databaseUrl: () => string;
  /** See JobRunnerOptions. */
  gaveUp: AbortSignal;
  sql: Sql;
  node: NodeLease;
  dispatcher: Dispatcher;
  backlogs: TickerOptions['backlogs'];
  stats?: TickerOptions['stats'];
  history?: ReplayerOptions['history'];
  turns: Pick<Turns, 'runLane'>;
  deliverer: Deliverer;
  sends: Pick<SendRunner, 'runLane'>;
  activeTenants: ActiveTenants;
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
  log: Log;
}

/** A node without room looks again after this long; others may take the lane meanwhile. */
const RETRY_MS = 500;

/**
 * Starts working on the lanes of all sources, webhooks and timers, beside every other node that
 * does.
 */
export async function startLanes(options: LanesOptions): Promise<JobRunner> {
  const { sql, node, dispatcher, deliverer, log } = options;
  const laneTurns = createLaneTurns({ activeTenants: options.activeTenants, log });
  const { turns, limits } = options;
  const runOptions = { sql, dispatcher, turns, postponed: createPostponedLanes(RETRY_MS), laneTurns, limits };
  const fireTick = createTicker({ sql, nodeId: node.id, dispatcher, backlogs: options.backlogs, stats: options.stats });
  const wake = createWaker(sql);
  const deleteAccount = createAccountDeleter(sql);
  const replay = createReplayer({ sql, history: options.history, stats: options.stats });
  const runner = await startJobRunner({
    get databaseUrl() {
      return options.databaseUrl();
    },
    gaveUp: options.gaveUp,
    log,
    onPool: (poolId, ended) => {
      node.locksJobsAs(poolId);
      recordJobPool(sql, node.id(), poolId, ended).catch((err: unknown) =>
        log.error({ err }, 'the job pool was not recorded'),
      );
    },
    tasks: {
      [TASKS.runSource]: (payload) => runSourceLane(runOptions, node.id, payload as RunSourcePayload),
      [TASKS.deliverWebhook]: (payload) => deliverer.runLane(payload as DeliverWebhookPayload),
      [TASKS.deliverAccount]: (payload) => deliverer.runAccountLane(payload as DeliverAccountPayload),
      [TASKS.send]: (payload) => options.sends.runLane(payload as SendPayload),
      [TASKS.fireTimer]: (payload) => fireTick(payload as FireTimerPayload),
      [TASKS.replayEvents]: (payload) => replay(payload as ReplayEventsPayload),
      [TASKS.deleteAccount]: (payload) => deleteAccount(payload as DeleteAccountPayload),
      [TASKS.wakeExecution]: (payload) => wake(payload as WakeExecutionPayload),
      [TASKS.webhookBacklog]: (payload) => workOffBacklog(sql, payload as WebhookBacklogPayload),
    },
  });
  return {
    async stop() {
      await runner.stop();
      await addRunLanes(sql, await laneTurns.stop());
    },
  };
}
