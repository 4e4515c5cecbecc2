-- What a row counts for maxConfigurationBytes beside its fixed part: its JSON as text. Kept with the row, since a sum over texts would read all of
-- them, and what the database stores is compressed, up to a ninetieth of what a node that reads it holds.
alter table emitters add column configuration_bytes integer not null
  generated always as (octet_length(configured_props::text) + octet_length(dynamic_props::text)) stored;
alter table deployments add column configuration_bytes integer not null
  generated always as (octet_length(triggers::text) + octet_length(steps::text) + octet_length(settings::text)) stored;
