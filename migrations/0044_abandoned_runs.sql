-- Times that the sandbox process ended while the invocation was alone in it, seen by the node that held it. Nothing else
-- counts: no claim, no death of a node, no failed commit. `attempts` remains for executions of workflows.
alter table invocations add column crashes integer not null default 0;

-- Invocations of sources that were given up after too many crashes, whole: a retry makes the same invocation of one again.
-- They leave with their source, by a retry, or when they are too old or too many.
create table abandoned_runs (
  id text collate "C" primary key,
  account_id text not null,
  source_id text not null,
  kind text not null,
  http_prop text,
  timer_prop text,
  caused_by text,
  trace_id text,
  hops integer not null,
  event text not null,
  error_message text not null,
  abandoned_at timestamptz not null default now()
);
create index abandoned_runs_account on abandoned_runs (account_id, id);
create index abandoned_runs_source on abandoned_runs (source_id, id);
