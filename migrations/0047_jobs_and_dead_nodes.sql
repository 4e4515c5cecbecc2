-- Adds jobs of graphile-worker one key after the other, each as its own add_jobs does: a job that waits is replaced, and one
-- that runs gives its key to a new one. add_jobs changes all that run before it adds all, in whatever order the plan has, so two
-- transactions that add some of the same keys deadlock. The arrays belong together; the caller sorts them by key.
create function add_jobs_in_order(
  identifiers text[], payloads text[], runs_at_ms float8[], keys text[], priorities int2[], attempts_allowed int2
) returns void language plpgsql as $$
declare
  spec record;
  is_added boolean;
begin
  insert into graphile_worker._private_tasks (identifier)
  select distinct wanted.identifier from unnest(identifiers) as wanted(identifier)
  where not exists (select from graphile_worker._private_tasks as known where known.identifier = wanted.identifier)
  on conflict do nothing;

  for spec in
    select tasks.id as task_id, added.payload, added.key, added.priority,
      case when added.run_at_ms > 0 then to_timestamp(added.run_at_ms / 1000.0) else now() end as run_at
    from unnest(identifiers, payloads, runs_at_ms, keys, priorities) with ordinality
      as added(identifier, payload, run_at_ms, key, priority, place)
    join graphile_worker._private_tasks as tasks on tasks.identifier = added.identifier
    order by added.place
  loop
    is_added := false;
    -- The job may start between the two statements, and need not see the caller's rows: then it gives its key away as well.
    for tries in 1..5 loop
      update graphile_worker._private_jobs as jobs
      set key = null, attempts = jobs.max_attempts, updated_at = now()
      where jobs.key = spec.key and jobs.is_available is not true;

      insert into graphile_worker._private_jobs as jobs (task_id, payload, run_at, max_attempts, key, priority)
      values (spec.task_id, spec.payload::json, spec.run_at, attempts_allowed, spec.key, spec.priority)
      on conflict (key) do update set
        job_queue_id = null, task_id = excluded.task_id, payload = excluded.payload, max_attempts = excluded.max_attempts,
        run_at = excluded.run_at, priority = excluded.priority, revision = jobs.revision + 1, flags = null,
        attempts = 0, last_error = null, updated_at = now()
      where jobs.locked_at is null;
      is_added := found;
      exit when is_added;
    end loop;
    if not is_added then
      raise exception 'The job % was started again and again while it was added', spec.key using errcode = '40001';
    end if;
  end loop;

  perform pg_notify('jobs:insert', json_build_object('r', random(), 'count', cardinality(keys))::text);
end;
$$;

-- The server process of the connection by which a node says that it lives. It ends with the node's process at once, long before
-- the node has been silent for as long as one whose machine has vanished.
alter table nodes add column backend_pid int4, add column backend_start timestamptz;
