-- Of more names than are kept, those of tasks and projects come first that the place has: the team, or the teams of a person. So no text that somebody made up
-- hides what it is about. Beyond that, and beyond 10,000 names, the order of the text decides.
create or replace function named_subjects(place uuid, content text) returns text[] language sql stable parallel safe as $$
  with named as materialized (
    select m[2] as name, min(at) as at
    from regexp_matches(content, '"(entity_id|task_id|parent_task_id|source_id|target_id|item_id|task)":"([^"]+)"', 'g') with ordinality as found(m, at)
    where length(m[2]) <= 128 and m[2] ~ '^[A-Za-z0-9_][A-Za-z0-9._:@-]*$'
    group by m[2] order by at limit 10000
  )
  select nullif(array(
    select place::text || ' ' || n.name from named n left join lateral (
      select 1 as found from (
        select t.team_id from tasks t where t.task_id = n.name
        union all select p.team_id from projects p where p.project_id::text = n.name
        union all select t.team_id from teams e join tasks t on t.team_id = e.team_id and t.number = substring(n.name from '-([0-9]{1,9})$')::int
          where e.team_id = place and e.key = substring(n.name from '^(.+)-[0-9]{1,9}$')
      ) i where i.team_id = place or exists (select from memberships m where m.team_id = i.team_id and m.user_id = place) limit 1
    ) known on (select count(*) from named) > 200
    order by known.found is null, n.at limit 200), '{}')
$$;
