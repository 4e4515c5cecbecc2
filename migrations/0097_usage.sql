-- What accounts used, by day (UTC). Nodes count in memory and add what they have counted every few seconds; a node of the
-- previous version adds nothing.
create table usage_days (
  account_id text not null references accounts on delete cascade,
  day date not null,
  requests bigint not null default 0,
  runs bigint not null default 0,
  run_ms double precision not null default 0,
  cpu_ms double precision not null default 0,
  events bigint not null default 0,
  deliveries bigint not null default 0,
  attempts bigint not null default 0,
  bytes_in bigint not null default 0,
  bytes_out bigint not null default 0,
  -- The most that was found on the day, and when it was looked at last.
  storage_bytes bigint not null default 0,
  stored_at timestamptz,
  primary key (account_id, day)
) with (fillfactor = 80);
-- What has expired.
create index usage_days_age on usage_days (day);
-- The share of a limit that an account was told of last: 80 or 100 percent. A row goes once it uses much less.
create table limit_notices (
  account_id text not null references accounts on delete cascade,
  limit_name text not null,
  percent smallint not null,
  primary key (account_id, limit_name)
);
