-- Filters of subscriptions. A node of before this version does not know them and sends more.

alter table subscriptions
  -- JSON text that was checked. Null: everything matches.
  add column filter text,
  -- A trace says what a filter made of events since then.
  add column filter_changed_at timestamptz,
  -- Patterns are one key: a commit reads them with those of its channels, and no other subscription.
  add column channel_key text not null
    generated always as (case when position('*' in event_name) > 0 then '*' else event_name end) stored;
create index subscriptions_channel_key on subscriptions (emitter_id, channel_key);

-- Copied to the subscriptions that it makes.
alter table auto_subscriptions add column filter text;
