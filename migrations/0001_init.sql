-- Tenants, people and keys. Every table below carries account_id; every query names it.
create table accounts (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table users (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  username text not null,
  email text,
  created_at timestamptz not null default now()
);
create index users_account on users (account_id);

-- A key is shown once; only its SHA-256 is kept. `hint` is its last four characters, for lists.
create table api_keys (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  user_id text not null references users on delete cascade,
  name text not null,
  key_hash bytea not null unique,
  hint text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

-- Code as it was saved, with what loading it in a sandbox showed. Never runs by itself.
create table components (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  key text,
  version text not null,
  type text not null,
  description text,
  code text not null,
  code_hash text not null,
  code_url text,
  bundle text not null,
  source_map text,
  dedupe text,
  hooks text[] not null,
  configurable_props jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index components_account on components (account_id, created_at);
create index components_key on components (account_id, key);

-- A deployed component. `revision` grows with every change of code or props: a warm isolate of an old one is not used again.
-- A deleted source keeps its row (deleted_at) so that deliveries of its last events can still be made.
-- `deployed_at` is null until its deploy and activate hooks are through: until then nobody is shown the source.
-- `busy_until` is the lease of a lifecycle change under way (create, update, delete run hooks and must not overlap).
create table sources (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  user_id text not null references users on delete cascade,
  component_id text not null references components,
  name text not null,
  name_slug text not null,
  configured_props jsonb not null,
  active boolean not null default true,
  revision integer not null default 1,
  busy_until timestamptz,
  deployed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index sources_slug on sources (account_id, name_slug) where deleted_at is null;
create index sources_account on sources (account_id, created_at);
create index sources_busy on sources (busy_until) where busy_until is not null;

-- The unguessable key of a URL such as /e/<key>. One per HTTP prop; stable across updates.
create table endpoints (
  key text primary key,
  account_id text not null references accounts on delete cascade,
  source_id text not null references sources on delete cascade,
  prop_name text not null,
  custom_response boolean not null,
  unique (source_id, prop_name)
);

-- `anchor_at` is when the timer was set: ticks are anchor + n × interval, so that lateness never adds up.
-- `generation` names the schedule a queued tick belongs to: a tick of an older one does nothing.
create sequence timer_generations;
create table timers (
  source_id text not null references sources on delete cascade,
  prop_name text not null,
  account_id text not null references accounts on delete cascade,
  interval_seconds integer,
  cron text,
  timezone text,
  anchor_at timestamptz not null default now(),
  generation bigint not null default nextval('timer_generations'),
  primary key (source_id, prop_name)
);

-- Nodes that may hold leases. One that has not been seen for a while is dead: its rows are released by any other node.
-- `job_pool` is the name under which its graphile-worker locks jobs.
create table nodes (
  id text primary key,
  role text not null,
  job_pool text,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- The tables below are written for every event. They have no foreign keys: a check would lock the parent row each time.

-- What is to be run and has not committed yet. The row goes away in the commit of its run.
-- `event` is JSON text, not jsonb: it is passed on as it is, and jsonb refuses \u0000.
-- leased_by null: waiting for any node.
create table invocations (
  id text collate "C" primary key,
  account_id text not null,
  source_id text not null,
  kind text not null,
  timer_prop text,
  event text not null,
  attempts integer not null default 0,
  leased_by text,
  created_at timestamptz not null default now()
);
create index invocations_lease on invocations (leased_by, source_id, id);
create index invocations_timer on invocations (source_id, timer_prop) where timer_prop is not null;

-- One row per emitter, locked by every commit that emits: it gives event ids their order and dedupe its exactness.
create table emitter_state (
  emitter_id text primary key,
  account_id text not null,
  last_event_ms bigint not null default 0,
  last_event_seq integer not null default 0,
  dedupe jsonb
);

-- $.service.db of a source.
create table component_db (
  source_id text not null,
  key text not null,
  account_id text not null,
  value text not null,
  primary key (source_id, key)
);

-- (indexed_at_ms, seq) is the public event id `1606511826306-0`; it grows with every event of the emitter.
create table events (
  emitter_id text not null,
  indexed_at_ms bigint not null,
  seq integer not null,
  account_id text not null,
  invocation_id text,
  channel text not null,
  emit_id text,
  summary text,
  ts bigint,
  data text not null,
  primary key (emitter_id, indexed_at_ms, seq)
);

-- Kept only for runs that logged or failed. `logs` is a JSON array of { at, level, message }.
create table runs (
  id text collate "C" primary key,
  account_id text not null,
  source_id text not null,
  kind text not null,
  status text not null,
  error_code text,
  error_message text,
  error_stack text,
  logs text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null
);
create index runs_source on runs (source_id, id);

-- `secret` is sealed (AES-256-GCM, account id as additional data).
create table webhooks (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  user_id text not null references users on delete cascade,
  name text,
  description text,
  url text not null,
  format text not null,
  secret text not null,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhooks_account on webhooks (account_id, created_at);

-- emitter_id is a source's id or the glob dc_*; event_name '' is the default channel.
create table subscriptions (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  emitter_id text not null,
  listener_id text not null,
  event_name text not null default '',
  created_at timestamptz not null default now(),
  unique (account_id, emitter_id, listener_id, event_name)
);
create index subscriptions_emitter on subscriptions (emitter_id, event_name);
create index subscriptions_listener on subscriptions (listener_id);

-- Deliveries to do and done. status: pending, delivered, failed (no attempt left), cancelled (webhook stopped).
-- Ids grow with time byte by byte (collation C), so a webhook's deliveries are listed newest first from the primary key.
-- `attempts` is a JSON array of { at, status_code, error, duration_ms, response }, oldest first; bounded by the retry schedule.
create table deliveries (
  id text collate "C" not null,
  account_id text not null,
  webhook_id text not null,
  emitter_id text not null,
  indexed_at_ms bigint not null,
  seq integer not null,
  status text not null default 'pending',
  attempt_count integer not null default 0,
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz not null default now(),
  leased_by text,
  created_at timestamptz not null default now(),
  primary key (webhook_id, id)
);
-- Serves both "due and not leased" and "leased by a node that died".
create index deliveries_pending on deliveries (leased_by, webhook_id, next_attempt_at) where status = 'pending';
