-- Whether `traceparent` of its requests is taken in, and passed on in its deliveries and fetches. A
-- node of the previous version passes nothing on.
alter table accounts add column trace_context boolean not null default false;
-- The trace of a caller that a trace of ours goes on with. A row only where a request had a
-- `traceparent`, and its account wants it taken in.
create table trace_contexts (
  -- The invocation that the trace began with.
  id text primary key,
  account_id text not null references accounts on delete cascade,
  traceparent text not null,
  tracestate text,
  created_at timestamptz not null default now()
);
-- What has expired.
create index trace_contexts_age on trace_contexts (created_at);
