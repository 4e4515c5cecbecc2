-- When a timer's next tick is due, epoch milliseconds: a tick of another time is one that was fired before. Null until the
-- first tick after this migration.
alter table timers add column due_ms bigint;

-- The node that has the lease `busy_until`: when it dies the change is recovered at once.
-- `hooks_begun`: hooks of the change have begun; recovery runs them again.
alter table sources add column busy_by text;
alter table sources add column hooks_begun boolean not null default false;
