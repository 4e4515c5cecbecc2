alter table webhooks
  -- fifo: of each key one after the other. The key is what is found at the path in the event; without
  -- a path all deliveries have the same.
  add column ordering text not null default 'none',
  add column ordering_key text,
  -- Null: as fast as the account may, and as many.
  add column rate_per_second int4,
  add column max_in_flight int4;

-- Of a webhook that is in order: deliveries of one key wait for each other. A node of the previous
-- version sets none, and sends such deliveries in no order.
alter table deliveries add column order_key text;
-- Who is first of a key, and next after the first has ended.
create index deliveries_ordered on deliveries (webhook_id, order_key, indexed_at_ms, seq, id)
  where status = 'pending' and order_key is not null;
