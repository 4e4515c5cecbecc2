-- A webhook whose requests go to a developer who listens. `listened_at`: the last sign of life; long after it the webhook is deleted.
create table tunnels (
  webhook_id text primary key references webhooks on delete cascade,
  account_id text not null references accounts on delete cascade,
  listened_at timestamptz not null default now()
);
create index tunnels_listened on tunnels (listened_at);

-- Requests on their way, for as long as their attempts last. Not in the log of the database: those that a crash takes time out.
-- status and error null: not answered yet.
create unlogged table tunnel_requests (
  id text collate "C" primary key,
  account_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  headers jsonb not null,
  body text not null,
  taken boolean not null default false,
  expires_at timestamptz not null,
  status integer,
  response_headers jsonb,
  response text,
  error text
);
create index tunnel_requests_waiting on tunnel_requests (webhook_id, id) where not taken;
create index tunnel_requests_age on tunnel_requests (expires_at);
