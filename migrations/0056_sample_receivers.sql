-- The built-in receiver of an account: the end of its URL, made when it is first asked for.
create table sample_receivers (
  account_id text primary key references accounts on delete cascade,
  key text not null unique,
  created_at timestamptz not null default now()
);

-- What it got: the newest requests of each account, for a day. Ids grow with time byte by byte.
create table sample_requests (
  id text collate "C" not null,
  account_id text not null references accounts on delete cascade,
  webhook_id text not null,
  delivery_id text not null,
  headers jsonb not null,
  body text not null,
  body_bytes integer not null,
  verified boolean not null,
  verdict text not null,
  received_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index sample_requests_received on sample_requests (received_at);
