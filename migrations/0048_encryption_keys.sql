-- Master keys that nodes seal with on this database: their names, hashes that say nothing of a key. A node that lacks one of them
-- does not start. A database from before has none until its first node starts; nodes of the version before do not look here.
create table encryption_keys (
  id text primary key,
  first_used_at timestamptz not null default now()
);
