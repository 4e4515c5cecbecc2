-- What the operator has set for the account, by name: { "runCpuMs": 500 }. The rest is the node's defaults.
alter table accounts add column limits jsonb not null default '{}';
create index accounts_created on accounts (created_at, id);
-- Of a run that a limit ended: { "name": "maxDbBytes", "value": 10485760, "used": 10485800 }.
alter table runs add column error_limit jsonb;
-- Bytes of all keys and values of the source's $.service.db, and 64 for each key: kept by the commits that write them, under
-- this row's lock.
alter table emitter_state add column db_bytes bigint not null default 0;
update emitter_state e set db_bytes = d.bytes
from (select source_id, sum(octet_length(key) + octet_length(value) + 64) as bytes from component_db group by source_id) d
where d.source_id = e.emitter_id;
