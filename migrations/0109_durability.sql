-- Whether a request to an endpoint of the source is stored before its run (stored), or only what its run leaves (none). Nodes of the
-- version before store each.
alter table emitters add column durability text not null default 'stored' check (durability in ('stored', 'none'));
create or replace view sources as
  select id, account_id, user_id, component_id, name, name_slug, configured_props, active, revision, busy_until, deployed_at,
    created_at, updated_at, deleted_at, dynamic_props, busy_by, hooks_begun, change_id, preflight, durability
  from emitters where kind = 'source';
