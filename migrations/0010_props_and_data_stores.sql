-- Whether the component has a method additionalProps. Of rows from before it is not known: then it is asked, and says.
alter table components add column has_additional_props boolean not null default true;

-- Prop definitions that a component's additionalProps has answered, for whoever deploys it next; dyp_….
create table dynamic_props (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  component_id text not null references components on delete cascade,
  definitions jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index dynamic_props_account on dynamic_props (account_id, created_at);
create index dynamic_props_component on dynamic_props (component_id);
create index dynamic_props_expiry on dynamic_props (expires_at);

-- The definitions that a source has besides those of its component; they replace those of the same name.
alter table sources add column dynamic_props jsonb not null default '[]';

-- `record_count` and `bytes` (of keys and values, and 64 for each record) are kept by whoever writes, under this row's lock.
-- They count records that have expired until those are deleted.
create table data_stores (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  description text,
  record_count bigint not null default 0,
  bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index data_stores_account on data_stores (account_id, created_at);

-- `value` is JSON text. A record is there until `expires_at`, whether its row has been deleted by then or not.
-- Keys are compared byte by byte: lists go on from a key whatever the database's language.
create table data_store_records (
  store_id text not null references data_stores on delete cascade,
  key text collate "C" not null,
  account_id text not null,
  value text not null,
  expires_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (store_id, key)
);
create index data_store_records_expiry on data_store_records (expires_at) where expires_at is not null;
