-- What runs for events and emits some: sources and workflows. `sources` is from now on the view of those that are sources.
-- `deployment_id`: the version that new executions of a workflow start with. `in_turn`: its executions are started by the
-- rules of its settings, so that none is leased when it is inserted.
alter table sources rename to emitters;
alter table emitters add column kind text not null default 'source';
alter table emitters add column deployment_id text;
alter table emitters add column in_turn boolean not null default false;
alter table emitters alter column component_id drop not null;
alter table emitters alter column configured_props set default '{}';
drop index sources_slug;
create unique index emitters_slug on emitters (account_id, kind, name_slug) where deleted_at is null;
create view sources as
  select id, account_id, user_id, component_id, name, name_slug, configured_props, active, revision, busy_until, deployed_at,
    created_at, updated_at, deleted_at, dynamic_props, busy_by, hooks_begun
  from emitters where kind = 'source';

-- One version of a workflow; never changed. Lists of triggers and steps and the settings as engine/src/workflows/deployment.ts
-- describes them; secrets in them are sealed.
create table deployments (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  workflow_id text not null references emitters on delete cascade,
  user_id text not null,
  version integer not null,
  triggers jsonb not null,
  steps jsonb not null,
  settings jsonb not null,
  created_at timestamptz not null default now(),
  unique (workflow_id, version)
);

-- One passage of an event through a workflow. Until it has ended it is an invocation with the same id, and has a row here
-- only where it has waited. JSON text: event, context, error ({ code, message, stack, limit, step }).
-- status: waiting, succeeded, failed, exited, cancelled.
create table executions (
  id text collate "C" primary key,
  account_id text not null,
  workflow_id text not null,
  deployment_id text not null,
  kind text not null,
  status text not null,
  event text not null,
  context text not null,
  error text,
  caused_by text,
  trace_id text not null,
  replay_of text,
  started_at timestamptz not null,
  ended_at timestamptz
);
create index executions_workflow on executions (workflow_id, id);
create index executions_trace on executions (trace_id, id);

-- What an execution's steps have come to: a row is durable before anything of the next step is felt outside. `runs`: how often it was run, the
-- last time included. JSON text: value (what it returned; null: undefined), exports, logs, sends, error.
-- status: done, failed, rerun (it is to be run again), waiting (done, and the execution waits).
create table execution_steps (
  execution_id text collate "C" not null,
  position integer not null,
  account_id text not null,
  deployment_id text not null,
  namespace text not null,
  status text not null,
  runs integer not null,
  value text,
  exports text not null,
  logs text not null,
  sends text,
  error text,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  primary key (execution_id, position)
);

-- An execution that waits: its invocation has the lease `parked`, which no node holds. `token` is part of its URLs.
-- kind: delay, suspend, rerun, retry. `resume_data`: JSON text of what the resuming request brought.
create table execution_waits (
  execution_id text collate "C" primary key,
  account_id text not null,
  workflow_id text not null,
  kind text not null,
  position integer not null,
  runs integer not null,
  token text not null,
  wake_at timestamptz not null,
  context text,
  resume_data text,
  created_at timestamptz not null default now()
);
create index execution_waits_workflow on execution_waits (workflow_id);
