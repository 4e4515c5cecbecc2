-- The packages that a component imports and the versions that were taken: { "lodash": "4.17.21" }.
alter table components add column dependencies jsonb not null default '{}';
-- Names the bundle's content. Null in rows from before: there the same code was always the same bundle.
alter table components add column bundle_hash text;
-- When the bundle was made, which may be before the row: a bundle of the same code is used again.
alter table components add column built_at timestamptz not null default now();
-- Grows with each change to how bundles are made; one of an older format is not used again.
alter table components add column bundle_format integer not null default 0;
create index components_code on components (account_id, code_hash);
