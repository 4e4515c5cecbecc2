import { createCountedFlush, every, type Sql } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import { addHistory, cutHistory, expireHistory, readHistoriesKept } from './history.sql.ts';
import { expireStats } from './delete-expired.sql.ts';
import type { HistoryCount } from '../../accounts/index.ts';
import { createHistoryMeter, type HistoryMeter } from './history-meter.ts';

export interface HistoryOptions {
  sql: Sql;
  /** maxHistoryBytes and eventRetentionDays of accounts for which nothing else is set. */
  defaultBytes: number;
  defaultDays: number;
  nowMs: () => number;
  /** Counts what is written. Default: one of its own. */
  meter?: HistoryMeter;
  /** Default: FLUSH_MS. */
  everyMs?: number | undefined;
  /** Called with the number of bytes cut off an account's history. */
  onCut: (bytes: number) => void;
  log: Log;
}

/**
 * Keeps the history of each account within maxHistoryBytes: what this node writes is added to the
 * counts that all nodes share.
 */
export interface History extends HistoryCount {
  /**
   * Stores the counted bytes, cuts histories over their limit, and checks some accounts without new
   * bytes.
   */
  turn(): Promise<void>;
}

const FLUSH_MS = 10_000;
/**
 * Accounts that one turn looks at besides: limits are lowered, and history grows old, where nothing
 * is written too.
 */
const TURN_ACCOUNTS = 200;
const DAY_MS = 24 * 3600 * 1000;

export function startHistory(options: HistoryOptions): HistoryCount & { stop: () => Promise<void> } {
  const { add, turn } = createHistory(options);
  const onError = (err: unknown) => options.log.warn({ err }, 'the history of accounts could not be counted yet');
  const stop = every(options.everyMs ?? FLUSH_MS, turn, onError);
  return {
    add,
    async stop() {
      await stop();
      await turn().catch(onError);
    },
  };
}

export function createHistory(options: HistoryOptions): History {
  const { sql, defaultBytes, defaultDays, nowMs, meter = createHistoryMeter(nowMs) } = options;
  /** Answers the accounts that are over their limit. */
  const flush = createCountedFlush(sql, meter, (parts) => addHistory(sql, parts, defaultBytes));
  let after = '';

  async function lookAround(): Promise<string[]> {
    const kept = await readHistoriesKept(sql, { after, limit: TURN_ACCOUNTS, defaultDays, defaultBytes });
    after = kept.length < TURN_ACCOUNTS ? '' : (kept.at(-1)?.id ?? '');
    const expiries = kept
      .filter(({ days }) => days > 0)
      .map(({ id, days }) => ({ id, beforeMs: Math.floor(nowMs() - days * DAY_MS) }));
    await expireHistory(sql, expiries);
    const daysBefore = new Map(expiries.map(({ id, beforeMs }) => [id, beforeMs]));
    await expireStats(
      sql,
      kept.map(({ id }) => ({ id, beforeMs: daysBefore.get(id) ?? 0 })),
      nowMs(),
    );
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
      const over = new Set([...((await flush()) ?? []), ...(await lookAround())]);
      for (const accountId of over) await cut(accountId);
    },
  };
}
