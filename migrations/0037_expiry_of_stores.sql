-- Whoever writes into a full store looks for what has expired in it: without reading all that has not.
create index data_store_records_of_store on data_store_records (store_id, expires_at) where expires_at is not null;
