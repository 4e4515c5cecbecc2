-- The account's million lines for S3 may be due at one moment: its requests and e-mails are found without reading them. `leased_by` is null in
-- what is looked for, and leads the order as in sends_pending.
create index sends_requests on sends (leased_by, account_id, next_attempt_at, id) where status = 'pending' and kind <> 's3';
