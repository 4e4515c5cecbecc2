-- Ids that senders gave to the events that they published: an id within its memory is not stored twice. No foreign keys, as of
-- everything that is written for every event. (indexed_at_ms, seq) is the event that was stored for it.
create table published_ids (
  emitter_id text not null,
  id text collate "C" not null,
  account_id text not null,
  indexed_at_ms bigint not null,
  seq integer not null,
  primary key (emitter_id, id)
);
create index published_ids_age on published_ids (indexed_at_ms);

-- The source that events without one go to. Made when the account first publishes such an event, and again where it was deleted.
alter table accounts add column events_source_id text;
