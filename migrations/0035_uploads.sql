-- The account's million lines may be due at one moment: the next upload and its lines are found without reading the others. `leased_by` is
-- null in what is looked for, and leads the order as in sends_pending, which has the requests and e-mails of the account in it as well.
create index sends_uploads on sends (leased_by, account_id, next_attempt_at, id) where status = 'pending' and kind = 's3';
-- What waits for a bucket and prefix, in the order that it has in an object. Ids grow with time: what is not due yet comes last.
create index sends_lines on sends (account_id, bucket, prefix, id)
  where status = 'pending' and kind = 's3' and leased_by is null and unit_id is null;
