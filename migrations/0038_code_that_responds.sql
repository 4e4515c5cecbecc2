-- Whether code calls `$.respond`, by the text that runs: the bundler leaves out comments and spaces, and has `$2` where the file has a `$` of its
-- own besides. Told once, when it is saved: each change of a workflow asks for all of its steps, which may have a hundred megabytes.
alter table components add column calls_respond boolean not null
  generated always as (strpos(bundle, '$.respond(') > 0 or strpos(bundle, '$2.respond(') > 0) stored;

-- What answers at once, of workflows from before, goes on doing so: whether their owners had asked for it is not known.
update deployments set triggers = (
    select jsonb_agg(case when one @> '{"type":"http","customResponse":false}' then one || '{"given":true}' else one end order by place)
    from jsonb_array_elements(triggers) with ordinality as each(one, place)
  )
  where triggers @> '[{"type":"http","customResponse":false}]';
