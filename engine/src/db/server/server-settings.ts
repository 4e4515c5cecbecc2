/**
 * The embedded server's settings, for a small machine that runs everything. Durability is
 * Postgres's default: committed data survives a power cut. They are given on the command line, so
 * that they override settings in the data folder.
 */
export const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  random_page_cost: '1.1',
  // Short statements only: compiling them costs more than running them.
  jit: 'off',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // No standby reads this log: less of it is written. A server of one's own (DATABASE_URL) is the
  // way to replication.
  wal_level: 'minimal',
  max_wal_senders: '0',
  min_wal_size: '128MB',
  // Bounds the disk and how long a start after a crash takes.
  max_wal_size: '512MB',
  checkpoint_timeout: '10min',
  // Invocations and jobs are inserted and deleted all the time: dead rows must go before the tables
  // grow.
  autovacuum_naptime: '10s',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_vacuum_cost_limit: '1000',
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Statements and their details hold tenants' data: they stay out of the log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

export function settingsAsArgs(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
