-- What `hw apply` has made from a folder, so that it deletes nothing else. While held_until is ahead, only `holder` changes it.
create table stacks (
  account_id text not null references accounts on delete cascade,
  name text collate "C" not null,
  resources jsonb not null default '[]',
  holder text,
  held_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);
