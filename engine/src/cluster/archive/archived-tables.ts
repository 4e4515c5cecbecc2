/** How the rows of an account in one table go into its archive, and out of it. */
interface ArchivedTable {
  table: string;
  /** Column of the account's id. Default: `account_id`. Null: `through` leads to the account. */
  owner?: string | null;
  /** Column by which the account's rows are found through an index, and the table it refers to. */
  through?: readonly [column: string, table: string];
  /** SQL by column, in place of its value: `t` is the row, and `:account` the id of the account. */
  out?: Readonly<Record<string, string>>;
  into?: Readonly<Record<string, string>>;
  /** Condition of a row that an import takes. */
  only?: string;
  /** An archive without history has none of it. */
  isHistory?: true;
}

/** The ids of apps of the server differ between instances, and their slugs do not. */
const BY_SLUG = {
  out: { app_id: '(select a.slug from all_apps a where a.id = t.app_id)' },
  into: {
    app_id:
      '(select a.id from all_apps a where a.slug = t.app_id and (a.account_id is null or a.account_id = :account))',
  },
};

/** No node of the other instance works on it. */
const UNLEASED = { leased_by: 'null' };

/**
 * Tables whose rows are an account's configuration and history, with rows that others refer to
 * first. A test asks that each table of the schema is here or in LEFT_OUT.
 */
export const ARCHIVED: readonly ArchivedTable[] = [
  // Nothing of it goes on before the operator resumes it: it may still run where it came from.
  { table: 'accounts', owner: 'id', into: { suspended_at: 'now()' } },
  { table: 'users' },
  { table: 'api_keys' },
  // Another slug could be that of an app of the catalogue, or of another account.
  { table: 'all_apps', only: "starts_with(t.slug, :account || ':')" },
  { table: 'oauth_clients', owner: 'owner', ...BY_SLUG },
  { table: 'connected_accounts', ...BY_SLUG },
  // The hash names code in processes that accounts share: this node says it, and not the file. What
  // is saved here is built here, and not taken from the file.
  {
    table: 'components',
    into: { bundle_hash: "encode(sha256(convert_to(t.bundle, 'UTF8')), 'hex')", bundle_format: '0' },
  },
  { table: 'emitters' },
  { table: 'deployments' },
  { table: 'dynamic_props' },
  { table: 'webhooks' },
  { table: 'tunnels' },
  { table: 'endpoints' },
  { table: 'timers' },
  { table: 'subscriptions' },
  { table: 'auto_subscriptions' },
  { table: 'environment_variables' },
  { table: 'data_stores' },
  { table: 'data_store_records' },
  { table: 's3_settings' },
  { table: 'stacks' },
  { table: 'sample_receivers' },
  { table: 'sample_requests', isHistory: true },
  { table: 'emitter_state', through: ['emitter_id', 'emitters'] },
  { table: 'component_db', through: ['source_id', 'emitters'] },
  { table: 'published_ids', through: ['emitter_id', 'emitters'] },
  { table: 'email_days' },
  { table: 'usage_days', isHistory: true },
  { table: 'account_histories', isHistory: true },
  { table: 'history_parts', isHistory: true },
  { table: 'stats', isHistory: true },
  { table: 'audit_log', isHistory: true },
  { table: 'trace_contexts', isHistory: true },
  { table: 'events', isHistory: true, through: ['emitter_id', 'emitters'] },
  { table: 'missed_events', isHistory: true, through: ['emitter_id', 'emitters'] },
  { table: 'runs', isHistory: true, through: ['source_id', 'emitters'] },
  { table: 'abandoned_runs', isHistory: true, through: ['source_id', 'emitters'] },
  // Streams order executions by the transaction that ended them: ids of another server are no use.
  {
    table: 'executions',
    isHistory: true,
    through: ['workflow_id', 'emitters'],
    into: { ended_in: 'pg_current_xact_id()' },
  },
  { table: 'execution_steps', isHistory: true, through: ['execution_id', 'executions'] },
  { table: 'execution_waits', isHistory: true, through: ['workflow_id', 'emitters'] },
  // An execution that waits is leased to no node, and says so there.
  {
    table: 'invocations',
    isHistory: true,
    through: ['source_id', 'emitters'],
    out: { leased_by: `case when t.leased_by = 'parked' then t.leased_by end`, wanted_by: 'null' },
  },
  { table: 'deliveries', isHistory: true, through: ['webhook_id', 'webhooks'], out: UNLEASED },
  { table: 'delivery_responses', isHistory: true, owner: null, through: ['webhook_id', 'webhooks'] },
  { table: 'sends', isHistory: true, through: ['workflow_id', 'emitters'], out: UNLEASED },
  // Its job is not in the archive.
  {
    table: 'replays',
    isHistory: true,
    out: { status: `case when t.status = 'running' then 'cancelled' else t.status end` },
  },
  { table: 'webhook_notices', isHistory: true },
];

/** Kinds of secrets that rows of history have. */
export const SECRETS_OF_HISTORY: ReadonlySet<string> = new Set(['send', 'step', 'wait']);

const INSTANCE = 'of the instance';
const PEOPLE = 'people are of the instance: they are invited anew';

/** All other tables, with why no archive has them. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  account_deletions: INSTANCE,
  encryption_keys: INSTANCE,
  headwater_migrations: INSTANCE,
  nodes: INSTANCE,
  registry_components: INSTANCE,
  sign_in_turns: INSTANCE,
  people: PEOPLE,
  memberships: PEOPLE,
  invitations: PEOPLE,
  password_resets: PEOPLE,
  user_sessions: PEOPLE,
  passkeys: PEOPLE,
  idempotency_keys: 'answers of the last hours',
  limit_notices: 'told again where it holds',
  live_lines: 'lines of what runs now',
  oauth_states: 'sign-ins under way',
  registry_imports: 'imports under way, and what became of earlier ones',
  registry_import_files: 'of those',
  registry_import_results: 'of those',
  tunnel_requests: 'requests under way',
  workflow_turns: 'counts of the minute',
};

/**
 * Columns that name a row of another table. No archive may name one of another account: code,
 * events and webhooks are found by their id alone.
 */
export const REFERENCES: Readonly<Record<string, readonly string[]>> = {
  app_id: ['all_apps'],
  component_id: ['components'],
  transform_id: ['components'],
  deployment_id: ['deployments'],
  emitter_id: ['emitters'],
  source_id: ['emitters'],
  workflow_id: ['emitters'],
  events_source_id: ['emitters'],
  listener_id: ['emitters', 'webhooks'],
  webhook_id: ['webhooks'],
  execution_id: ['executions'],
  store_id: ['data_stores'],
  user_id: ['users'],
};

export const ownerOf = ({ owner = 'account_id' }: ArchivedTable): string | null => owner;
