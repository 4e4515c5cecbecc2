-- What has failed of a webhook is found without reading all that was delivered. Only a delivery that fails, or is cancelled or made again
-- after that, writes to it.
create index deliveries_failed on deliveries (webhook_id, id) where status = 'failed';

-- Decided against, for lists of events: an index of the default channel (emitter_id, indexed_at_ms, seq) where channel = '' and one of the
-- others that do not begin with `$`. Context: among millions of events of one channel, a list of another that has no index (the default one),
-- or of all but the built-in ones, looked through all of them. Measured: 200 000 events of 300 bytes, 64 a commit, with the update of the state
-- of their emitters: 161 MB of log become 191, and 3.3 s of processor time of the server 4.0; nearly every event would pay for it. Instead
-- such a list looks through a bounded number of events (maxScannedEvents), and its cursor leads on from
-- there. Cost: a page may have fewer events than were asked for, or none, while there are more, and `total_count` tells of the newest ones.
