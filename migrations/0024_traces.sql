-- How long the run had waited when it began, and how long it had run at the commit of the event; null for events of hooks.
alter table events add column queued_ms integer;
alter table events add column ran_ms integer;
-- All events of a trace.
create index events_trace on events ((coalesce(trace_id, invocation_id)) collate "C");

-- The place of a record among everything that its emitter has committed, from the counter that numbers its events: streams
-- of log lines go on from it. Null: the run was started by an event, neither logged nor failed, and is kept for its trace alone.
alter table runs add column recorded_ms bigint;
alter table runs add column recorded_seq integer;
update runs r set recorded_ms = n.ms, recorded_seq = n.seq from (
  select id, (extract(epoch from ended_at) * 1000)::bigint as ms,
    (row_number() over (partition by source_id, (extract(epoch from ended_at) * 1000)::bigint order by id) - 1)::integer as seq
  from runs
) as n where n.id = r.id;
create index runs_recorded on runs (source_id, recorded_ms, recorded_seq) where recorded_ms is not null;

-- The transaction that ended an execution, or made it wait. Executions end without a lock on their workflow: a stream of their
-- log lines reads up to the oldest transaction that is still under way, and misses none that way.
alter table executions add column ended_in xid8 not null default pg_current_xact_id();
create index executions_ended on executions (workflow_id, ended_in, id);
-- Lists of what is rare: most executions of a busy workflow succeed.
create index executions_status on executions (workflow_id, status, id) where status <> 'succeeded';

-- What was emitted and not heard, or not stored. (ms, seq) is from the counter that numbers the emitter's events, and `ms` that
-- of all events of the same commit. reason:
--   paused: everything on `channel` from from_seq to to_seq, by a listener that was stopped;
--   too_many_hops: what the invocation emitted on `channel`, by a listener that the chain of events ended before;
--   deduped: the invocation emitted so many events that were known; `emit_ids`, JSON text, are the first of their ids;
--   more: so many rows were not written.
create table missed_events (
  emitter_id text not null,
  ms bigint not null,
  seq integer not null,
  account_id text not null,
  reason text not null,
  invocation_id text,
  trace_id text,
  listener_id text,
  channel text not null,
  from_seq integer,
  to_seq integer,
  emit_ids text not null,
  missed integer not null,
  primary key (emitter_id, ms, seq)
);
create index missed_events_trace on missed_events (trace_id) where trace_id is not null;
