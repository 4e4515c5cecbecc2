-- An account that is being deleted: its keys and endpoints are gone, and a job deletes the rest. The row here outlives the
-- account, so that a second request finds the first one. A node of the previous version leaves such a job to others; what it
-- still commits for the account is deleted by the job's next pass.
alter table accounts add column deleted_at timestamptz;
create table account_deletions (
  account_id text primary key,
  name text not null,
  requested_at timestamptz not null default now(),
  -- Rows that were deleted so far.
  deleted_rows bigint not null default 0,
  -- Nothing was left then.
  ended_at timestamptz
);
