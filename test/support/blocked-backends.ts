import type postgres from 'postgres';

/** Connections that wait for the transaction. */
export const blockedBy = (tx: postgres.TransactionSql) => tx`
  select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))`;
