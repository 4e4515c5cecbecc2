-- The props of a step as its component got them, JSON text of an object; null: it has none, or a node of before has written the row.
-- `props_cut`: names of those that are the beginning of their JSON, as a string, or not there at all; JSON text of an array.
alter table execution_steps add column props text, add column props_cut text;
