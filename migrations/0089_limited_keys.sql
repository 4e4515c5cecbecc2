-- `resource`: the one source, workflow or webhook that the key reaches; null: all that its scopes do. The scopes of such a key are
-- stored as `resource:<scope>`: a node of the previous version knows none of them, and refuses the key everything.
-- `last_used_at` is written now and then.
alter table api_keys
  add column last_used_at timestamptz,
  add column resource text;
