-- The master key that the node seals with (its name, not the key): replacing a key waits until no live node uses the old one.
-- Null for nodes that take their keys from a file: those take up a new one by themselves.
alter table nodes add column encryption_key_id text;
