-- What steps of workflows read as env.NAME. `value` is sealed.
create table environment_variables (
  account_id text not null references accounts on delete cascade,
  name text collate "C" not null,
  description text,
  value text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);

-- Versions of all workflows of an account: what names a component or a variable is looked for in them.
create index deployments_account on deployments (account_id);
