-- The files of imports, each as a row: a node reads those of one component at a time, where twenty megabytes of JSON would hold its only thread.
-- `text` is null where it is larger than the code of a component may be; `attempts`: how often the component was begun.
create table registry_import_files (
  import_id text not null references registry_imports on delete cascade,
  path text collate "C" not null,
  text text,
  bytes integer not null,
  is_component boolean not null,
  attempts integer not null default 0,
  primary key (import_id, path)
);
create index registry_import_files_components on registry_import_files (import_id, path) where is_component;

-- Imports under way would have to be read again by other rules: they end, and say so.
insert into registry_import_results (import_id, path, error)
  select id, 'files', jsonb_build_object('code', 'UNAVAILABLE', 'errors', jsonb_build_array(), 'message',
    'Ended by an update of the server: import the same again, what is there already stays as it is')
  from registry_imports where ended_at is null;
update registry_imports set ended_at = now(), leased_until = null where ended_at is null;
alter table registry_imports drop column files;
