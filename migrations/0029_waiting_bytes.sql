-- What an execution that waits has in the database, as it counts for maxWaitingBytes.
alter table execution_waits add column bytes bigint not null default 1024;
