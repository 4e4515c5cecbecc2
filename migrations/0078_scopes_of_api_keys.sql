-- What a key may do, and until when. Keys from before may do everything, and do not expire.
alter table api_keys
  add column scopes text[] not null default '{full}',
  add column expires_at timestamptz;
