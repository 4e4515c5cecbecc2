-- What a webhook's owner says of its requests. Null: as the node does it by default.

alter table webhooks
  -- The secret that was replaced, sealed: it signs beside the new one until then.
  add column previous_secret text,
  add column previous_secret_until timestamptz,
  -- JSON text of names and values, sealed.
  add column request_headers text,
  add column retry_schedule_seconds int4[],
  add column timeout_seconds int4,
  add constraint webhooks_previous_secret check ((previous_secret is null) = (previous_secret_until is null));
