-- What `$.flow.exit` was given, on an execution that it ended.
alter table executions add column reason text;

-- `failures`: how often the step has failed so far, of the kinds rerun and retry. `resume_data` of the kind `early`, where the
-- request that resumes came before its step had ended: the row is there before the execution waits.
alter table execution_waits add column failures integer not null default 0;
-- Those that are overdue.
create index execution_waits_due on execution_waits (wake_at);
