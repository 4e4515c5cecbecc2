import { every } from '../../db/every.ts';
import type { Log } from '../../contract/log.ts';
import { createCountedFlush } from '../../db/counted-flush.ts';
import { addStats } from './add-stats.sql.ts';
import type { Sql } from '../../db/database.ts';
import { createStatMeter, type StatCount } from '../../events/stat-meter.ts';

/**
 * Between two moments at which a node stores what it has counted: a node that dies loses so much of
 * it.
 */
const FLUSH_MS = 5_000;
/** Rows of one statement. */
const MAX_PARTS = 5_000;

/** Counts on this node and adds what it has counted to what all nodes share. */
export function startStats({ sql, nowMs, log }: { sql: Sql; nowMs: () => number; log: Log }): StatCount & {
  stop: () => Promise<void>;
} {
  const meter = createStatMeter(nowMs);
  const bounded = {
    take() {
      const taken = meter.take();
      meter.putBack(taken.splice(MAX_PARTS));
      return taken;
    },
    putBack: meter.putBack,
  };
  const flush = createCountedFlush(sql, bounded, async (parts) => {
    await addStats(sql, parts);
    return parts.length;
  });
  const flushAll = async () => {
    while ((await flush()) === MAX_PARTS);
  };
  const onError = (err: unknown) => log.warn({ err }, 'counters by time could not be stored yet');
  const stop = every(FLUSH_MS, flushAll, onError);
  return {
    add: meter.add,
    async stop() {
      await stop();
      await flushAll().catch(onError);
    },
  };
}
