import type { ExceededLimit } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineMetrics } from '../metrics.ts';
import { startHistory } from '../nodes/history.ts';
import { historyOf } from '../parts-of-options.ts';
import type { Sql } from '../store/database.ts';
import type { StatCount } from '../stats/stat-meter.ts';
import { startStats } from '../stats/start-stats.ts';
import type { HistoryCount } from '../store/history-row-bytes.ts';
import { readAccountDbSizes } from '../store/read-account-db-sizes.ts';
import { readBacklogs } from '../store/read-backlogs.ts';
import { addNotice } from '../store/webhook-notices.ts';
import { readWaitingBytes } from '../store/read-waiting-bytes.ts';
import { type AccountBacklogs, startAccountBacklogs } from './account-backlogs.ts';
import { type AccountSums, startAccountSums } from './account-sums.ts';

/** What accounts have in the database that a limit bounds and no commit counts. */
export interface AccountCounts {
  backlogs: AccountBacklogs;
  dbSizes: AccountSums;
  waiting: AccountSums;
  history: HistoryCount;
  stats: StatCount;
  /** After whatever commits. */
  stopCounts: () => Promise<void>;
}

export async function startAccountCounts(
  options: EngineOptions,
  { sql, limits, metrics }: { sql: Sql; limits: LimitsCache; metrics: EngineMetrics },
): Promise<AccountCounts> {
  const { log } = options;
  const onNearLimit = (accountId: string, { name, value, used }: ExceededLimit) => {
    // One an hour, however many nodes count.
    const id = `near:${accountId}:${name}:${new Date().toISOString().slice(0, 13)}`;
    const about = { limit: name, value, used };
    return addNotice(sql, { type: 'backlog.near_limit', accountId, id, about });
  };
  const read = () => readBacklogs(sql);
  const backlogs = await startAccountBacklogs({ read, limitsOf: limits.known, onNearLimit, log });
  const dbSizes = await startAccountSums({ read: () => readAccountDbSizes(sql), what: 'stores', log });
  const waiting = await startAccountSums({ read: () => readWaitingBytes(sql), what: 'executions that wait', log });
  const history = startHistory({ ...historyOf(options, sql), onCut: metrics.historyCut });
  const stats = startStats({ sql, nowMs: Date.now, log });
  async function stopCounts(): Promise<void> {
    await backlogs.stop();
    await dbSizes.stop();
    await waiting.stop();
    await history.stop();
    await stats.stop();
  }
  return { backlogs, dbSizes, waiting, history, stats, stopCounts };
}
