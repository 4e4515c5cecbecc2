-- Where a node listens: its ports, and the addresses of its machine besides loopback. No request that is made for a tenant goes there from
-- any other node.
alter table nodes
  add column addresses text[] not null default '{}',
  add column ports integer[] not null default '{}';
