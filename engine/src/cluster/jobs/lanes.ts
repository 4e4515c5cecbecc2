import type { ActiveTenants } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/limits-cache.ts';
import { createAccountDeleter } from './delete-account.ts';
import type { Deliverer } from '../../outbox/deliveries/deliverer.ts';
import type { Log } from '../../contract/log.ts';
import type { NodeLease } from '../node-lease.ts';
import type { Dispatcher } from '../../runs/dispatcher.ts';
import type { SendRunner } from '../../outbox/sends/send-runner.ts';
import type { Sql } from '../../db/database.ts';
import type { Turns } from '../../workflows/controls/turns.ts';
import { recordJobPool } from '../nodes.sql.ts';
import { addRunLanes } from '../../runs/insert-invocations.sql.ts';
import { createTicker, type TickerOptions } from './fire-timer.ts';
import { type JobRunner, startJobRunner } from '../../db/jobs/job-runner.ts';
import { createLaneTurns } from '../../db/jobs/lane-turns.ts';
import { createWaker } from './wake-execution.ts';
import { createReplayer, type ReplayerOptions } from '../../runs/replays/replay-events.ts';
import { createPostponedLanes } from '../../db/jobs/postponed-lanes.ts';
import { runSourceLane } from './run-source.ts';
import {
  type DeliverAccountPayload,
  type DeleteAccountPayload,
  type DeliverWebhookPayload,
  type FireTimerPayload,
  type ReplayEventsPayload,
  type RunSourcePayload,
  type SendPayload,
  TASKS,
  type WakeExecutionPayload,
} from '../../db/jobs/tasks.ts';

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
    },
  });
  return {
    async stop() {
      await runner.stop();
      await addRunLanes(sql, await laneTurns.stop());
    },
  };
}
