import { UnansweredAddition, wasCommitted } from './add-counted.ts';
import type { Sql } from './database.ts';

/** Counts in memory, until they are taken to be stored. */
interface Meter<Part> {
  take(): Part[];
  putBack(parts: readonly Part[]): void;
}

/**
 * Stores the counts of a meter, each part exactly once even if a transaction's answer is lost. Then
 * it stores nothing more until the outcome is known. `add` must use addCounted. Resolves with
 * undefined if nothing was stored.
 */
export function createCountedFlush<Part, Answer>(
  sql: Sql,
  meter: Meter<Part>,
  add: (parts: readonly Part[]) => Promise<Answer>,
): () => Promise<Answer | undefined> {
  let unanswered: { transaction: string; parts: Part[] } | undefined;

  /**
   * Rejects while the database is away. False: the transaction has not ended, and its counts may
   * still be added.
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
