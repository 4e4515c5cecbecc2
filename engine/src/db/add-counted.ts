import type { Sql, Transaction } from './database.ts';
import { codeOf, isConnectionLost } from './lost-connection.ts';

/**
 * The connection was lost: parts may have been added or not, as `wasCommitted` says of their
 * transaction.
 */
export class UnansweredAddition extends Error {
  readonly transaction: string;

  constructor(transaction: string, cause: unknown) {
    super('The connection was lost while counts were added', { cause });
    this.transaction = transaction;
  }
}

/**
 * Adds counts in a transaction whose outcome can be queried later. Rejects with UnansweredAddition
 * if the counts must not be added again before the outcome is known.
 */
export async function addCounted<T>(sql: Sql, add: (tx: Transaction) => Promise<T>): Promise<T> {
  let transaction: string | undefined;
  try {
    const added = await sql.begin(async (tx) => {
      const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`;
      transaction = row?.id;
      return { value: await add(tx) };
    });
    return added.value;
  } catch (error) {
    if (transaction === undefined || !isConnectionLost(error)) throw error;
    throw new UnansweredAddition(transaction, error);
  }
}

/**
 * Undefined: the transaction has not ended. A transaction that the server has forgotten counts as
 * committed: counting twice would cost an account its history.
 */
export async function wasCommitted(sql: Sql, transaction: string): Promise<boolean | undefined> {
  try {
    const [row] = await sql<{ status: string | null }[]>`select pg_xact_status(${transaction}::text::xid8) as status`;
    return row?.status === 'in progress' ? undefined : row?.status !== 'aborted';
  } catch (error) {
    // It lies in the future of a server that took over without it.
    if (codeOf(error) === UNKNOWN_TRANSACTION) return false;
    throw error;
  }
}

const UNKNOWN_TRANSACTION = '22023';
