-- Postgres compresses long texts with pglz by itself: 10 to 15 ms of a processor for each megabyte of JSON, within the commit. lz4 takes a
-- tenth of that, where the server was built with it; the embedded one was not, and keeps them as they are (docs/adr/029-texts-as-they-are.md).
do $$
declare
  place record;
begin
  for place in
    select * from (values
      ('invocations', 'event'), ('component_db', 'value'), ('data_store_records', 'value'), ('events', 'data'), ('runs', 'logs'),
      ('executions', 'event'), ('executions', 'context'), ('execution_steps', 'value'), ('execution_steps', 'exports'),
      ('execution_steps', 'logs'), ('execution_waits', 'context'), ('execution_waits', 'resume_data'), ('sends', 'payload')
    ) as places (of_table, of_column)
  loop
    begin
      execute format('alter table %I alter column %I set compression lz4', place.of_table, place.of_column);
    exception when feature_not_supported then
      execute format('alter table %I alter column %I set storage external', place.of_table, place.of_column);
    end;
  end loop;
end
$$;

-- They are looked up by their index alone and deleted in the order of their writing: a vacuum for what was only added, which others need for their
-- visibility map, would read and write each of their pages once more for nothing.
alter table events set (toast.autovacuum_vacuum_insert_threshold = -1);
alter table runs set (toast.autovacuum_vacuum_insert_threshold = -1);
alter table executions set (toast.autovacuum_vacuum_insert_threshold = -1);
alter table execution_steps set (toast.autovacuum_vacuum_insert_threshold = -1);
alter table sends set (toast.autovacuum_vacuum_insert_threshold = -1);
