-- How the last attempt of a delivery failed, in one word, so that failures of one kind are found without reading what receivers answered.
-- Null for those that were attempted before, and for what an older node attempts: their kind is not known.
alter table deliveries add column error_class text;
