-- People, who are members of accounts. A person belongs to no account; a row of users is what an account knows of a member, and
-- stays after the member has left, as things that it made name it. A node of the previous version knows keys alone.
create table people (
  id text collate "C" primary key,
  -- In lower case.
  email text collate "C" not null unique,
  name text not null,
  -- `$argon2id$v=19$…`; null: the person signs in by other means.
  password_hash text,
  -- When the person has shown that the address is theirs; null: whoever had a link to an invitation has made this person.
  email_verified_at timestamptz,
  created_at timestamptz not null default now()
);

create table memberships (
  user_id text primary key references users on delete cascade,
  account_id text not null references accounts on delete cascade,
  person_id text collate "C" not null references people,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  created_at timestamptz not null default now(),
  unique (person_id, account_id)
);
create index memberships_account on memberships (account_id, created_at);

-- Of the tokens below only the SHA-256 is kept.
create table invitations (
  id text collate "C" primary key,
  account_id text not null references accounts on delete cascade,
  email text collate "C" not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  token_hash bytea not null unique,
  -- Of the link that was mailed: who has it reads the mail of that address.
  mail_token_hash bytea not null unique,
  -- u_…, key_…, or operator.
  invited_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (account_id, email)
);

create table user_sessions (
  id text collate "C" primary key,
  person_id text collate "C" not null references people on delete cascade,
  token_hash bytea not null unique,
  address text,
  user_agent text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index user_sessions_person on user_sessions (person_id, created_at);
create index user_sessions_expiry on user_sessions (expires_at);

-- How fast one address, or with one e-mail address, sign-in may be tried. `key` is a SHA-256. full_at: when the burst is whole again.
create table sign_in_turns (
  key bytea primary key,
  full_at timestamptz not null
);
create index sign_in_turns_full on sign_in_turns (full_at);
