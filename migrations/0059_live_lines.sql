-- Log lines of runs that go on, so that whoever follows them does not wait for their end. `logs` has the form of runs.logs. A part of
-- a source has a place among its events and records (at_ms, seq); one of a workflow has the transaction that wrote it, as the end of an
-- execution has. The record of the run has all lines too, and in live_lines how many of them were given here.
create table live_lines (
  id text collate "C" primary key,
  account_id text not null,
  emitter_id text not null,
  run_id text not null,
  namespace text,
  first_line int not null,
  logs text not null,
  at_ms bigint not null,
  seq int,
  written_in xid8 not null default pg_current_xact_id()
);
create index live_lines_place on live_lines (emitter_id, at_ms, seq);
create index live_lines_written on live_lines (emitter_id, written_in, run_id) where seq is null;

alter table runs add column live_lines int not null default 0;
alter table execution_steps add column live_lines int not null default 0;
