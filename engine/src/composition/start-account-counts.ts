import type { Stops } from '../db/index.ts';
import type { ExceededLimit } from '@headwater/shared';
import type { EngineOptions } from '../contract/index.ts';
import { startHistory } from '../cluster/index.ts';
import type { Ground } from './ground.ts';
import { historyOf } from './parts-from-options.ts';
import type { StatCount, UseCount } from '../events/index.ts';
import { startStats, watchHeld } from '../observe/index.ts';
import type { HistoryCount } from '../accounts/index.ts';
import {
  type AccountBacklogs,
  type AccountSums,
  readAccountDbSizes,
  readBacklogs,
  readWaitingBytes,
  startAccountBacklogs,
  startAccountSums,
} from '../runs/index.ts';
import { addNotice } from '../outbox/index.ts';

/**
 * Counts of what accounts have in the database, for limits. They are kept beside the commits, not
 * in them.
 */
export interface AccountCounts {
  backlogs: AccountBacklogs;
  dbSizes: AccountSums;
  waiting: AccountSums;
  history: HistoryCount;
  stats: StatCount & UseCount;
  /** After whatever commits. Last started, first stopped. */
  stops: Stops;
}

export async function startAccountCounts(
  options: EngineOptions,
  { sql, limits, metrics, meter, historyMeter }: Pick<Ground, 'sql' | 'limits' | 'metrics' | 'meter' | 'historyMeter'>,
): Promise<AccountCounts> {
  const { log, countsEveryMs: everyMs } = options;
  const onNearLimit = (accountId: string, { name, value, used }: ExceededLimit, percent: number) => {
    // One an hour, however many nodes count.
    const id = `near:${accountId}:${name}:${percent}:${new Date().toISOString().slice(0, 13)}`;
    const about = { limit: name, value, used, percent };
    return addNotice(sql, { type: 'backlog.near_limit', accountId, id, about });
  };
  const read = () => readBacklogs(sql);
  const backlogs = await startAccountBacklogs({ read, limitsOf: limits.known, onNearLimit, everyMs, log });
  const dbSizes = await startAccountSums({ read: () => readAccountDbSizes(sql), what: 'stores', everyMs, log });
  const waiting = await startAccountSums({
    read: () => readWaitingBytes(sql),
    what: 'executions that wait',
    everyMs,
    log,
  });
  const history = startHistory({ ...historyOf(options, sql), meter: historyMeter, everyMs, onCut: metrics.historyCut });
  const stopStats = startStats({ sql, meter, onStored: metrics.accountsUsed, everyMs, log });
  const stopLooking = watchHeld({ sql, limits, nowMs: Date.now, log });
  const stops = {
    stats: stopStats,
    'what accounts have stored': stopLooking,
    history: history.stop,
    'waiting executions': waiting.stop,
    'sizes of db': dbSizes.stop,
    backlogs: backlogs.stop,
  };
  return { backlogs, dbSizes, waiting, history, stats: meter, stops };
}
