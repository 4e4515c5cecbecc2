-- A saved component is a draft until `published_at`. A published version of a key is one row, and stays as it is.
-- `registry_id` names the version of the registry that the row is a copy of: sources of an account run the account's own rows.
-- `deleted_at`: only the row is left, for sources that were deleted before.
alter table components add column published_at timestamptz;
alter table components add column registry_id text;
alter table components add column deleted_at timestamptz;
create unique index components_published on components (account_id, key, version) where published_at is not null;
create unique index components_registry on components (account_id, registry_id) where registry_id is not null;
create index sources_component on sources (component_id);

-- What all accounts may deploy. Versions of a key are immutable and only grow; `seq` is their order.
-- `publisher` is the account that published it, null for the components that come with the server. No foreign key: what was
-- published stays when the account goes.
-- `app`: the app that the key begins with, where the component uses it.
-- A withdrawn version keeps its row, so that its number is never taken again; its code is gone.
create table registry_components (
  id text primary key,
  seq bigint generated always as identity,
  publisher text,
  app text,
  key text collate "C" not null,
  version text not null,
  name text not null,
  type text not null,
  description text,
  code text not null,
  code_hash text not null,
  code_url text,
  bundle text not null,
  source_map text,
  bundle_hash text,
  built_at timestamptz not null,
  bundle_format integer not null,
  dependencies jsonb not null,
  dedupe text,
  hooks text[] not null,
  configurable_props jsonb not null,
  has_additional_props boolean not null,
  is_newest boolean not null default true,
  published_at timestamptz not null default now(),
  withdrawn_at timestamptz,
  search tsvector not null generated always as (
    setweight(to_tsvector('simple', regexp_replace(name || ' ' || key, '[^[:alnum:]]+', ' ', 'g')), 'A') ||
    setweight(to_tsvector('simple', regexp_replace(left(coalesce(description, ''), 4000), '[^[:alnum:]]+', ' ', 'g')), 'B')
  ) stored,
  unique (key, version)
);
create unique index registry_components_newest on registry_components (key) where is_newest;
create index registry_components_publisher on registry_components (publisher);
create index registry_components_search on registry_components using gin (search);

-- Folders of components that are being imported, or were. `files` is JSON text, path to text; null once it is done.
-- `leased_until`: a node works on it. `turn_at`: its last turn; the next one is that of the account whose last is longest ago.
create table registry_imports (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  user_id text not null,
  scope text not null,
  files text,
  total integer not null,
  turn_at timestamptz,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index registry_imports_account on registry_imports (account_id, created_at);
create index registry_imports_waiting on registry_imports (account_id) where ended_at is null;

-- What became of one component. `error` is { code, message, errors } where it failed.
create table registry_import_results (
  import_id text not null references registry_imports on delete cascade,
  path text not null,
  component_id text,
  key text,
  version text,
  error jsonb,
  primary key (import_id, path)
);
