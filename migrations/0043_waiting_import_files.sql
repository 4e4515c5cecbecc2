-- Since when a component of an import waits for packages that cannot be had. Those that do not wait have their turn first.
alter table registry_import_files add column waits_since timestamptz;
