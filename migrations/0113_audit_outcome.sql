-- `unknown`: the change is under way, or its node ended before it could say what became of it. A
-- node of the previous version adds an entry after its change.
alter table audit_log add column outcome text not null default 'made';
