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

-- A person whose address is proven by a mailed link or a provider has no passkey of before: somebody else may have made it.
-- Nodes of the previous version do not delete it themselves. They end all sessions first; the one session by which a person
-- accepts a mailed invitation goes on, and so do the passkeys.
create function delete_passkeys_of_unproven() returns trigger language plpgsql as $$
begin
  delete from passkeys where person_id = new.id and not exists (select from user_sessions where person_id = new.id);
  return null;
end;
$$;
create trigger people_proven after update of email_verified_at on people for each row
  when (old.email_verified_at is null and new.email_verified_at is not null)
  execute function delete_passkeys_of_unproven();
