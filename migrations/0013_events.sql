-- Listeners may be sources: an invocation that an event made knows the event, the invocation at the beginning of the chain
-- (null: itself), and how many events led to it.
alter table invocations add column caused_by text;
alter table invocations add column trace_id text;
alter table invocations add column hops integer not null default 0;
-- The event that started the run that emitted this one, as `<emitter id>-<event id>`; trace_id null: invocation_id is it.
alter table events add column caused_by text;
alter table events add column trace_id text;
alter table runs add column caused_by text;

-- Subscriptions that every emitter gets when it is made.
create table auto_subscriptions (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  listener_id text not null,
  event_name text not null default '',
  created_at timestamptz not null default now(),
  unique (account_id, listener_id, event_name)
);
create index auto_subscriptions_account on auto_subscriptions (account_id, created_at);
-- The rare channels of a busy emitter: without this, its newest errors are found by reading all its events.
create index events_channel on events (emitter_id, channel, indexed_at_ms, seq) where channel <> '';
