-- Links with which a person sets a new password. Of the tokens only the SHA-256 is kept. Nodes of the previous version make none.
create table password_resets (
  token_hash bytea primary key,
  person_id text collate "C" not null references people on delete cascade,
  expires_at timestamptz not null
);
create index password_resets_person on password_resets (person_id);
create index password_resets_expiry on password_resets (expires_at);
