alter table webhooks
  -- Since when all attempts have failed that were recorded; null: the last one has not.
  add column failing_since timestamptz,
  -- How long it may fail before it is disabled; null: the default, 0: for ever.
  add column disable_after_hours int4,
  -- It was stopped because it failed, or answered 410. Null where its owner stopped it.
  add column disabled_at timestamptz,
  add column disabled_reason text;

-- What is to be told on the channel $webhooks of an account. A row is written in the transaction of
-- what it tells of, and deleted once its event is stored.
create table webhook_notices (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  -- JSON text of the event.
  data text not null,
  created_at timestamptz not null default now(),
  -- A node is at it until then.
  taken_until timestamptz not null default now()
);
