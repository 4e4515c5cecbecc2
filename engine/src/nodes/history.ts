import { every } from '../every.ts';
import type { Log } from '../log.ts';
import { addHistory, UnansweredAddition, wasCommitted } from '../store/add-history.ts';
import { cutHistory } from '../store/cut-history.ts';
import type { Sql } from '../store/database.ts';
import { expireHistory, readHistoriesKept } from '../store/expire-history.ts';
import type { HistoryCount } from '../store/history-bytes.ts';
import { createHistoryMeter, type HistoryMeter, type HistoryPart } from './history-meter.ts';

export interface HistoryOptions {
  sql: Sql;
  /** maxHistoryBytes and eventRetentionDays of accounts for which nothing else is set. */
  defaultBytes: number;
  defaultDays: number;
  nowMs: () => number;
  /** So many bytes of an account are more than it may keep. */
  onCut: (bytes: number) => void;
  log: Log;
}

/** Keeps the history of each account within maxHistoryBytes: what this node writes is added to the counts that all nodes share. */
export interface History extends HistoryCount {
  /** Stores what was counted, cuts what is too much, and looks at some accounts that nothing was counted of. */
  turn(): Promise<void>;
}

const FLUSH_MS = 10_000;
/** Accounts that one turn looks at besides: limits are lowered, and history grows old, where nothing is written too. */
const TURN_ACCOUNTS = 200;
const DAY_MS = 24 * 3600 * 1000;

export function startHistory(options: HistoryOptions): HistoryCount & { stop: () => Promise<void> } {
  const { add, turn } = createHistory(options);
  const onError = (err: unknown) => options.log.warn({ err }, 'what accounts have of history could not be counted yet');
  const stop = every(FLUSH_MS, turn, onError);
  return {
    add,
    async stop() {
      await stop();
      await turn().catch(onError);
    },
  };
}

export function createHistory(options: HistoryOptions): History {
  const { sql, defaultBytes, defaultDays, nowMs } = options;
  const meter = createHistoryMeter(nowMs);
  const flush = createFlush(options, meter);
  let after = '';

  async function lookAround(): Promise<string[]> {
    const kept = await readHistoriesKept(sql, { after, limit: TURN_ACCOUNTS, defaultDays, defaultBytes });
    after = kept.length < TURN_ACCOUNTS ? '' : (kept.at(-1)?.id ?? '');
    const expiries = kept
      .filter(({ days }) => days > 0)
      .map(({ id, days }) => ({ id, beforeMs: Math.floor(nowMs() - days * DAY_MS) }));
    await expireHistory(sql, expiries);
    return kept.filter(({ isOver }) => isOver).map(({ id }) => id);
  }

  async function cut(accountId: string): Promise<void> {
    const done = await cutHistory(sql, accountId, defaultBytes);
    if (done === undefined) return;
    options.onCut(done.bytes);
    const keptFrom = new Date(done.keptFromMs).toISOString();
    options.log.info(
      { account: accountId, bytes: done.bytes, keptFrom },
      'an account has more history than it may keep',
    );
  }

  return {
    add: meter.add,
    async turn() {
      const over = new Set([...(await flush()), ...(await lookAround())]);
      for (const accountId of over) await cut(accountId);
    },
  };
}

/** Stores what was counted, and answers the accounts that are over their limit. */
function createFlush({ sql, defaultBytes }: HistoryOptions, meter: HistoryMeter): () => Promise<string[]> {
  let unanswered: { transaction: string; parts: HistoryPart[] } | undefined;

  /** Rejects while the database is away. False: the transaction has not ended, and what it adds may still come. */
  async function isSettled(): Promise<boolean> {
    if (unanswered === undefined) return true;
    const { transaction, parts } = unanswered;
    const isCommitted = await wasCommitted(sql, transaction);
    if (isCommitted === undefined) return false;
    unanswered = undefined;
    if (!isCommitted) meter.putBack(parts);
    return true;
  }

  return async () => {
    if (!(await isSettled())) return [];
    const parts = meter.take();
    if (parts.length === 0) return [];
    try {
      return await addHistory(sql, parts, defaultBytes);
    } catch (error) {
      if (error instanceof UnansweredAddition) unanswered = { transaction: error.transaction, parts };
      else meter.putBack(parts);
      throw error;
    }
  };
}
