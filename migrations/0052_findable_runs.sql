-- The strategy by which the events of a note `deduped` were known; null in notes of before.
alter table missed_events add column dedupe text;
