-- Apps that accounts have defined, beside the catalogue. `apps` shows the catalogue alone, so nodes of the version before see no
-- app of an account. The slug of such an app is stored as <account id>:<slug>, which no app of the catalogue can have.
alter table apps rename to all_apps;
alter table all_apps add column account_id text references accounts on delete cascade;
create index all_apps_account on all_apps (account_id);
create view apps as
  select id, slug, definition, is_changed, created_at, updated_at from all_apps where account_id is null;
alter table oauth_clients drop constraint oauth_clients_app_id_fkey,
  add constraint oauth_clients_app_id_fkey foreign key (app_id) references all_apps on delete cascade;
