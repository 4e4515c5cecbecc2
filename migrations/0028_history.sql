-- How many bytes of history (events, records of runs and executions, sends, deliveries) an account has: nodes count what they
-- write, and add it every few seconds. `bytes` is the sum of the account's parts. What is older than kept_from_ms is deleted.
-- Who changes parts has locked the row of their account here, and those of several accounts in the order of their ids.
create table account_histories (
  account_id text primary key references accounts on delete cascade,
  bytes bigint not null default 0,
  kept_from_ms bigint not null default 0
);

-- What was written from began_ms on, until the next whole minute.
create table history_parts (
  account_id text not null references account_histories on delete cascade,
  began_ms bigint not null,
  bytes bigint not null,
  primary key (account_id, began_ms)
);
