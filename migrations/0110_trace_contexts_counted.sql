-- A row of an account that is deleted at that moment would fail the commit that it shares with its
-- neighbours' rows. The deletion of an account finds the table by its column.
alter table trace_contexts drop constraint trace_contexts_account_id_fkey;
-- They are a part of the account's history, and go with it.
create index trace_contexts_of_account on trace_contexts (account_id, created_at);
