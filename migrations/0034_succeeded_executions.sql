-- A list of what has succeeded, of a workflow with millions of executions that failed, would read each of those. Of its own and without the
-- status: ids grow with time, so that each row is added at the end of its workflow's part.
create index executions_succeeded on executions (workflow_id, id) where status = 'succeeded';
