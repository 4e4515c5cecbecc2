import { LIMITS } from '@headwater/shared';
import type { StatCount } from '../../events/index.ts';
import { advanceReplay } from './advance-replay.sql.ts';
import type { ReplayEventsPayload, Sql } from '../../db/index.ts';
import type { HistoryCount } from '../../accounts/index.ts';
import { isWebhook } from '../../outbox/index.ts';

export interface ReplayerOptions {
  sql: Sql;
  history?: HistoryCount | undefined;
  stats?: StatCount | undefined;
}

/** One turn of a replay. Rejects where that is to be tried again. */
export function createReplayer(options: ReplayerOptions): (payload: ReplayEventsPayload) => Promise<void> {
  const { sql, history, stats } = options;
  return async ({ replayId }) => {
    const turn = await advanceReplay(sql, replayId, Date.now);
    if (turn === undefined || turn.sent === 0) return;
    const { accountId, listenerId, sent } = turn;
    if (isWebhook(listenerId)) history?.add(accountId, sent * LIMITS.historyRowBytes);
    else stats?.add(accountId, [listenerId], 'received', sent);
  };
}
