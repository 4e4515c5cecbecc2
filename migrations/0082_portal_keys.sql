-- Keys of portal links have a bound of their own. A node of the previous version makes and counts them as any other.
alter table api_keys add column of_portal boolean not null default false;
