-- Which state of a webhook its reader has seen: a change that is made for an older one is refused. It grows with each change, as that of
-- sources and workflows does. A node of the previous version does not count its changes; while one runs, they are not noticed.
alter table webhooks add column revision integer not null default 1;
