-- A stopped webhook holds what is pending of it. A node of the previous version cancels what it
-- claims of a stopped webhook, and notes new events as missed; while one runs, holding is not safe.

alter table webhooks
  -- Deliveries that were made before then are what was held when it was started last; null: none is left.
  add column drain_before timestamptz,
  -- How many of them are sent a second; null: as fast as it goes.
  add column drain_per_second int4,
  -- Up to when what was claimed at a rate uses up that rate.
  add column paced_until timestamptz;
