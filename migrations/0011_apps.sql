-- The catalogue of apps, which is every account's. `definition` is an AppDefinition. Rows that no operator has changed are
-- brought up to date with the catalogue of the code at each start.
create table apps (
  id text primary key,
  slug text not null unique,
  definition jsonb not null,
  is_changed boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Credentials of OAuth clients: `owner` is an account, for its own one, or 'instance' for the one that the operator has set for
-- all. `secret` is sealed for the owner; null for a public client.
create table oauth_clients (
  app_id text not null references apps,
  owner text not null,
  client_id text not null,
  secret text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_id, owner)
);

-- A user's account at an app. `credentials` is JSON text, sealed for the account; null once deleted: the row stays with what
-- became of the tokens at the provider (`revocation`).
-- `version` grows with every change of the credentials: who has read an older one changes nothing.
-- `client_owner` names the OAuth client that the tokens were given to.
-- `refresh_at` is when a new access token is to be fetched, `refresh_until` the lease of the node that is fetching one.
create table connected_accounts (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  user_id text not null references users on delete cascade,
  app_id text not null references apps,
  name text,
  uid text,
  scopes text[] not null default '{}',
  client_owner text,
  credentials text,
  version integer not null default 1,
  state text not null default 'healthy',
  reason text,
  checked_at timestamptz,
  expires_at timestamptz,
  refresh_at timestamptz,
  refresh_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  revocation text
);
create index connected_accounts_account on connected_accounts (account_id, created_at);

-- OAuth flows under way. Only the hash of `state` is kept: a copy of the table finishes no flow. `request` is sealed: it holds
-- the PKCE verifier. The row is deleted by the first callback that names it.
create table oauth_states (
  state_hash bytea primary key,
  account_id text not null references accounts on delete cascade,
  user_id text not null references users on delete cascade,
  app_id text not null references apps,
  request text not null,
  expires_at timestamptz not null
);
create index oauth_states_account on oauth_states (account_id, expires_at);
