-- What requests with an Idempotency-Key were answered. status null: the request is under way on the node claimed_by, or was when
-- that node ended. `answer` is sealed; null where there was none, or it was too large to be kept (answer_bytes). account_id '':
-- the operator.
create table idempotency_keys (
  account_id text not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  claimed_by text not null,
  claim_id text not null,
  status integer,
  headers jsonb,
  answer text,
  answer_bytes integer not null default 0,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
