import { type AccountBacklogs, type Dispatcher, NOTHING_QUEUED } from '../../runs/index.ts';
import type { StatCount } from '../../events/index.ts';
import { createBatcher, createJobCrowds, type FireTimerPayload, isDataError, type Sql } from '../../db/index.ts';
import { type FiredTick, fireTimers } from '../../sources/index.ts';

export interface TickerOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: Pick<Dispatcher, 'capacity' | 'take'>;
  backlogs: Pick<AccountBacklogs, 'exceeded' | 'add'>;
  /** Default: nothing is counted. */
  stats?: StatCount | undefined;
}

const ONE_TICK = { ...NOTHING_QUEUED, invocations: 1 };
const MAX_BATCH = 64;
/** Ticks that come due together share a transaction; one that comes alone does not wait. */
const MIN_INTERVAL_MS = 5;

/** Fires ticks and starts their runs. Rejects where the tick is to be tried again. */
export function createTicker({
  sql,
  nodeId,
  dispatcher,
  backlogs,
  stats,
}: TickerOptions): (tick: FireTimerPayload) => Promise<void> {
  const { priorityAt } = createJobCrowds();
  const batcher = createBatcher<FireTimerPayload, FiredTick>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    isItemsFault: isDataError,
    commit: (ticks) => {
      const isFull = (accountId: string) => backlogs.exceeded(accountId, ONE_TICK) !== undefined;
      const options = { nodeId: nodeId(), capacity: dispatcher.capacity, isFull, priorityAt };
      return fireTimers(sql, ticks, options);
    },
  });
  return async (tick) => {
    const fired = await batcher.add(tick);
    if (fired.kind === 'held' || fired.kind === 'queued') {
      const { accountId, sourceId } = fired.invocation;
      stats?.add(accountId, [sourceId], 'received', 1);
    }
    if (fired.kind === 'held') dispatcher.take([fired.invocation]);
    if (fired.kind === 'queued') backlogs.add(fired.invocation.accountId, ONE_TICK);
    if (fired.kind === 'failed') throw fired.error;
  };
}
