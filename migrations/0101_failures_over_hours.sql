alter table webhooks
  -- How long its failures must go on before it is disabled; null: the default, 0: one is enough.
  add column disable_failures_over_hours int4,
  -- Its failures have followed each other within a day since then. Says nothing where failing_since
  -- is null. A node of the previous version leaves both as they are, and their clock begins anew.
  add column failures_from timestamptz,
  -- The newest failure, at most an hour late.
  add column failed_at timestamptz;

update webhooks set failures_from = failing_since, failed_at = now() where failing_since is not null;
