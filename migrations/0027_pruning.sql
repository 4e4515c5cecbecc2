-- Since when a version is neither the current one nor one of the newest that are kept. Null: it is, or was not looked at yet.
alter table deployments add column unused_since timestamptz;
create index deployments_unused on deployments (workflow_id, unused_since) where unused_since is not null;
-- Which versions name a component or a variable.
create index deployments_steps on deployments using gin (steps jsonb_path_ops);

-- Saved from the code of a step, by the deployment of a workflow: it goes with the last version that has it.
alter table components add column of_step boolean not null default false;
