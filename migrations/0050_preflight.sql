-- What becomes of a browser's CORS preflight to the endpoints of a source or workflow: it is answered (allow), or runs the code as
-- any other request does (run). Nodes of the version before run it in any case.
alter table emitters add column preflight text not null default 'allow' check (preflight in ('allow', 'run'));
create or replace view sources as
  select id, account_id, user_id, component_id, name, name_slug, configured_props, active, revision, busy_until, deployed_at,
    created_at, updated_at, deleted_at, dynamic_props, busy_by, hooks_begun, change_id, preflight
  from emitters where kind = 'source';
