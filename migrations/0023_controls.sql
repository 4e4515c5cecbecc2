-- The order in which invocations of workflows were accepted. Ids cannot tell it: within a millisecond they are random, and
-- the clocks of nodes differ. Null: of a source.
create sequence invocation_places;
alter table invocations add column place bigint;
-- The node that holds the client which waits for the workflow's own answer.
alter table invocations add column wanted_by text;
-- What waits for its turn. Those that have begun before (after a wait, a crash) are apart from those that have not: a throttle
-- holds only the latter.
create index invocations_turns on invocations (source_id, least(attempts, 1), place)
  where leased_by is null and place is not null;

-- Locked by whoever starts executions of a workflow whose settings say how many may be started: one node at a time decides.
-- The throttle's window, and how many were started in it.
create table workflow_turns (
  workflow_id text primary key references emitters on delete cascade,
  window_started_at timestamptz,
  started integer not null default 0
);

-- With concurrency 1 nothing overtakes an execution that is going to be tried again.
create index execution_waits_retry on execution_waits (workflow_id) where kind = 'retry';
