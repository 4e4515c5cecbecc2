-- The HTTP prop of a source, or the HTTP trigger of a workflow, by which a request came. Null for all else: a timer is in
-- timer_prop, which timers alone have, because their runs are looked for by it.
alter table invocations add column http_prop text;
