import { createCountedFlush, every, type Sql } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import { addStats } from './stats.sql.ts';
import type { StatMeter, StatPart } from '../../events/index.ts';

/**
 * Between two moments at which a node stores what it has counted: a node that dies loses so much of
 * it.
 */
const FLUSH_MS = 5_000;
/** Rows of one statement. */
const MAX_PARTS = 5_000;

interface StatsOptions {
  sql: Sql;
  meter: StatMeter;
  /** Told of what was stored. */
  onStored?: ((parts: readonly StatPart[]) => void) | undefined;
  /** Default: FLUSH_MS. */
  everyMs?: number | undefined;
  log: Log;
}

/** Adds what this node has counted to what all nodes share. Answers a stop that adds the rest. */
export function startStats({ sql, meter, onStored, everyMs = FLUSH_MS, log }: StatsOptions): () => Promise<void> {
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
    onStored?.(parts);
    return parts.length;
  });
  const flushAll = async () => {
    while ((await flush()) === MAX_PARTS);
  };
  const onError = (err: unknown) => log.warn({ err }, 'counters by time could not be stored yet');
  const stop = every(everyMs, flushAll, onError);
  return async () => {
    await stop();
    await flushAll().catch(onError);
  };
}
