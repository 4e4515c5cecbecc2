-- Which lease of a source's change it is: its node alone does not tell it from a later one of the same node. Null: none, or one that is
-- left to whoever recovers the change.
alter table emitters add column change_id text;
create or replace view sources as
  select id, account_id, user_id, component_id, name, name_slug, configured_props, active, revision, busy_until, deployed_at,
    created_at, updated_at, deleted_at, dynamic_props, busy_by, hooks_begun, change_id
  from emitters where kind = 'source';
