-- Events of the run that were stored, and those that dedupe dropped; null in rows of before.
alter table runs add column emitted int, add column deduped int;
-- Runs that no event leads to, among those that logged or failed. The others have rows for their traces alone.
create index runs_listed on runs (source_id, id)
  where recorded_ms is not null or emitted = 0 or (emitted is null and caused_by is null);
