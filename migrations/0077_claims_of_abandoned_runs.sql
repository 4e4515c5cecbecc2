-- A retried run goes on counting its claims: whoever still believes in a claim from before it was given up holds nothing.
alter table abandoned_runs add column claim integer not null default 1;
