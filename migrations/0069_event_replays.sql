-- Past events that are sent to a listener again. A job goes through them in the order of their ids; its cursor is
-- committed with what each turn has made.
create table replays (
  id text collate "C" primary key,
  account_id text not null references accounts on delete cascade,
  emitter_id text not null,
  listener_id text not null,
  -- A channel, or a pattern of them. Null: all but the built-in ones.
  event_name text,
  filter text,
  since_ms bigint not null,
  until_ms bigint not null,
  -- Only these events: two arrays of one length. Null: all of the range.
  event_ms bigint[],
  event_seq integer[],
  rate_per_second integer,
  -- running, done, cancelled, failed
  status text not null default 'running',
  error text,
  -- Of the events that were found when it was made; not all were looked at where it is not complete.
  count integer not null,
  count_is_complete boolean not null,
  delivered_before integer not null,
  sent integer not null default 0,
  cursor_ms bigint not null default -1,
  cursor_seq integer not null default -1,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index replays_account on replays (account_id, created_at);

-- The replay that made it.
alter table deliveries add column replay_id text;
