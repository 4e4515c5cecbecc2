-- The log of attempts. Headers, phases and the class of the error are in deliveries.attempts, with the beginning of the answer. An answer
-- that is longer than that, or no text, is here: `attempts` is written anew with each attempt, and would carry it along each time.
create table delivery_responses (
  webhook_id text not null,
  delivery_id text collate "C" not null,
  -- When the attempt began.
  at_ms bigint not null,
  body bytea not null,
  primary key (webhook_id, delivery_id, at_ms)
);

-- `manual` or `replay`: why the next attempt is made, where neither its event nor the schedule of retries is the reason. A node of
-- the previous version neither reads nor clears it.
alter table deliveries add column next_trigger text;
