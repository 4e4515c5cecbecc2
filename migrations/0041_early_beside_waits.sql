-- What comes for a later run of a step while it goes on, beside the wait that led to this run: `early_token` stands for the run of
-- (early_position, early_runs). All null: nothing has come.
alter table execution_waits
  add column early_token text,
  add column early_position integer,
  add column early_runs integer,
  add column early_data text;
-- As other long texts (migration 0030).
do $$
begin
  alter table execution_waits alter column early_data set compression lz4;
exception when feature_not_supported then
  alter table execution_waits alter column early_data set storage external;
end
$$;
