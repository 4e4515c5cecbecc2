-- How many an account has: its first ticks come after those of accounts with fewer.
create index timers_account on timers (account_id);
