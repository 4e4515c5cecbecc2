-- What steps have sent with `$.send.http`, `.email` and `.s3`: a row is made when its execution ends, and attempted until it
-- is delivered or has failed. `payload`: JSON text of what was given to `$.send`, known secrets taken out; where there are
-- some, `sealed` has it as it was, until it is delivered. `unit_id` is what is attempted as one: the row itself, or all rows
-- of one upload, which is null until they are put together; `object_key` is then the name of their object.
-- kind: http, email, s3. status: pending, delivered, failed.
create table sends (
  id text collate "C" primary key,
  account_id text not null references accounts on delete cascade,
  workflow_id text not null,
  execution_id text not null,
  trace_id text not null,
  kind text not null,
  payload text not null,
  sealed text,
  bucket text,
  prefix text,
  unit_id text collate "C",
  object_key text,
  status text not null default 'pending',
  attempt_count integer not null default 0,
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz not null default now(),
  leased_by text,
  created_at timestamptz not null default now()
);
create index sends_execution on sends (execution_id, id);
create index sends_trace on sends (trace_id, id);
create index sends_workflow on sends (workflow_id, id);
create index sends_pending on sends (leased_by, account_id, next_attempt_at) where status = 'pending';
create index sends_sealed on sends (id) where sealed is not null;
create index sends_unit on sends (unit_id) where status = 'pending';

-- Steps whose sends, not yet rows of their own, have a sealed part.
create index execution_steps_sealed on execution_steps (execution_id) where position('"sealed":"' in sends) > 0;

-- Where an account's `$.send.s3` goes; `secret_access_key` is sealed. Without an endpoint: Amazon's of the region.
create table s3_settings (
  account_id text primary key references accounts on delete cascade,
  endpoint text,
  region text not null,
  access_key_id text not null,
  secret_access_key text not null,
  updated_at timestamptz not null default now()
);

-- E-mails that an account has sent on a day (UTC).
create table email_days (
  account_id text not null references accounts on delete cascade,
  day date not null,
  count integer not null,
  primary key (account_id, day)
);
