-- Who changed what. Rows are added and, when they are old, deleted; never changed. account_id '': the instance, not an account.
-- `before` and `after` have the fields that differ, secrets masked. A node of the previous version adds none.
create table audit_log (
  id text collate "C" primary key,
  account_id text not null,
  at timestamptz not null default now(),
  -- key_…, or operator.
  actor_id text not null,
  actor_name text not null,
  address text,
  -- The operation of the API: updateSource.
  action text not null,
  -- The id that it was done to; the path where it has none.
  thing text not null,
  before text,
  after text,
  request_id text not null
);
create index audit_log_account on audit_log (account_id, id);
create index audit_log_thing on audit_log (thing, id);
create index audit_log_age on audit_log (at);
