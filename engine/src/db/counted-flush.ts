import { UnansweredAddition, wasCommitted } from './add-counted.ts';
import type { Sql } from './database.ts';

/** Counts in memory, until they are taken to be stored. */
interface Meter<Part> {
  take(): Part[];
  putBack(parts: readonly Part[]): void;
}

/**
 * Stores what a meter has counted, each part exactly once also where the answer of a transaction is
 * lost: then nothing more is stored before it is known what became of it. `add` goes through
 * addCounted. Undefined: nothing was stored.
 */
export function createCountedFlush<Part, Answer>(
  sql: Sql,
  meter: Meter<Part>,
  add: (parts: readonly Part[]) => Promise<Answer>,
): () => Promise<Answer | undefined> {
  let unanswered: { transaction: string; parts: Part[] } | undefined;

  /**
   * Rejects while the database is away. False: the transaction has not ended, and what it adds may
   * still come.
   */
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
    if (!(await isSettled())) return undefined;
    const parts = meter.take();
    if (parts.length === 0) return undefined;
    try {
      return await add(parts);
    } catch (error) {
      if (error instanceof UnansweredAddition) unanswered = { transaction: error.transaction, parts };
      else meter.putBack(parts);
      throw error;
    }
  };
}
