-- Passkeys of people. Of a key only the public half is known here. Nodes of the previous version make and ask for none.
create table passkeys (
  id text collate "C" primary key,
  person_id text collate "C" not null references people on delete cascade,
  -- As the authenticator names it.
  credential_id bytea not null unique,
  -- COSE_Key of RFC 9052.
  public_key bytea not null,
  -- How often the authenticator says it has signed; 0 for one that does not count.
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  is_backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_person on passkeys (person_id, created_at);
