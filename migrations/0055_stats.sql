-- Counters by time. Nodes count in memory and add what they have counted every few seconds.
-- subject_id: a source, a workflow, a webhook, or the account itself for its totals.
-- step_seconds: 60 or 3600; each count is in a row of both, so that long ranges read few rows and nothing is rolled up later.
create table stats (
  account_id text not null references accounts on delete cascade,
  subject_id text not null,
  step_seconds integer not null,
  began_ms bigint not null,
  received bigint not null default 0,
  emitted bigint not null default 0,
  runs_ok bigint not null default 0,
  runs_failed bigint not null default 0,
  delivered bigint not null default 0,
  failed_attempts bigint not null default 0,
  exhausted bigint not null default 0,
  primary key (account_id, subject_id, step_seconds, began_ms)
) with (fillfactor = 80);
-- Of all subjects of an account in a range, and of what has expired.
create index stats_time on stats (account_id, step_seconds, began_ms);
