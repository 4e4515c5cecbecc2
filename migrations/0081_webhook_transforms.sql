-- The component that changes the requests of a webhook, or drops them. A node of the previous version sends them unchanged.
alter table webhooks add column transform_id text references components;
create index webhooks_transform on webhooks (transform_id) where transform_id is not null;
