alter table webhooks
  -- The rate at which its receiver can follow, found by its answers: { perSecond, latencyMs, … } of
  -- engine/src/outbox/webhooks/adaptive-rate.ts. Null: it does not adapt. A node of the previous
  -- version sends as if it were null.
  add column adaptive_rate jsonb;
