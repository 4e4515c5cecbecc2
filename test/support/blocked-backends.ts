import type postgres from 'postgres';

/** Connections that wait for the transaction. */
export async function blockedBy(tx: postgres.TransactionSql): Promise<postgres.Row[]> {
  // A transaction sees the connections that there were when it first looked.
  await tx`select pg_stat_clear_snapshot()`;
  return tx`select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))`;
}
