-- The activity feed, and its pages, read from the newest months first.

create table activity (
  activity_id uuid primary key default uuidv7(),
  timestamp timestamptz not null default now(),
  user_id uuid,
  actor_type text not null,
  action text not null,
  entity_type text not null,
  entity_id text not null,
  entity_title text,
  team_id uuid,
  project_id uuid,
  summary text not null,
  -- The audit entry of the change, which holds what caused the change and what it changed. Null in lines of older versions of the service.
  audit_id uuid
) partition by range (activity_id);
create index activity_of_team on activity (team_id, activity_id);
create index activity_of_project on activity (project_id, activity_id) where project_id is not null;
create index activity_of_entity on activity (entity_id, activity_id);
select register_partitions('activity', 'month', ahead => 3, keep => 13);

-- A page of the activity of the caller's teams: merges the newest lines of each. $1 = caller id; filters, each null for all: $2 = team id, $3 = project id, $4 = entity type,
-- $5 = entity id, $6 = user id; $7 = cursor (exclusive), $8 = row limit. Newest first. A statement over all partitions plans for longer than it
-- reads, or opens all of them; so this one reads a month, then one more, two, four and so on, until it has enough; after 16 months the rest
-- at once. The bounds are parameters, so a kept plan opens the partitions of that time only. To an equality the planner could prefer the primary
-- key, which has the order too: a team with few lines among teams with many would read a month of theirs. A comparison of rows has the
-- order without a sort in this one index only, and sorts are off here. The bounds of the id alone say which partitions are opened.
create function activity_of_teams(uuid, uuid, uuid, text, text, uuid, uuid, integer) returns setof activity language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off as $$
declare
  -- All lines of a project are of its team: nobody else's request reads them.
  teams uuid[] := array(select m.team_id from memberships m where m.user_id = $1 and ($2 is null or m.team_id = $2)
    and m.team_id = coalesce((select p.team_id from projects p where p.project_id = $3), m.team_id));
  found integer := 0;
  part integer;
  months integer := 1;
  highest uuid := $7;
  lowest uuid;
  -- Null for a cursor that is no UUIDv7, such as the highest id.
  starts timestamp := date_trunc('month', least(coalesce(uuid_extract_timestamp($7), now()), now()) at time zone 'UTC');
begin
  if cardinality(teams) = 0 then return; end if;
  loop
    lowest := case when months > 16 then '00000000-0000-0000-0000-000000000000' else uuid_at(starts at time zone 'UTC') end;
    return query 
  select a.* from unnest(teams) m(id) cross join lateral (
  select a.* from activity a
  where (a.team_id, a.activity_id) >= (m.id, lowest) and (a.team_id, a.activity_id) < (m.id, highest)
    and a.team_id is not null and a.activity_id >= lowest and a.activity_id < highest and ($2 is null or a.team_id = $2) and ($3 is null or a.project_id = $3) and ($4 is null or a.entity_type = $4)
  and ($5 is null or a.entity_id = $5) and ($6 is null or a.user_id = $6) order by a.team_id desc, a.activity_id desc limit $8 - found) a order by a.activity_id desc limit $8 - found;
    get diagnostics part = row_count;
    found := found + part;
    exit when found >= $8 or months > 16;
    highest := least(highest, lowest);
    starts := starts - make_interval(months => months);
    months := months * 2;
  end loop;
end $$;

-- The same of a project, by its own index.
create function activity_of_project(uuid, uuid, uuid, text, text, uuid, uuid, integer) returns setof activity language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off as $$
declare
  -- All lines of a project are of its team: nobody else's request reads them.
  teams uuid[] := array(select m.team_id from memberships m where m.user_id = $1 and ($2 is null or m.team_id = $2)
    and m.team_id = coalesce((select p.team_id from projects p where p.project_id = $3), m.team_id));
  found integer := 0;
  part integer;
  months integer := 1;
  highest uuid := $7;
  lowest uuid;
  -- Null for a cursor that is no UUIDv7, such as the highest id.
  starts timestamp := date_trunc('month', least(coalesce(uuid_extract_timestamp($7), now()), now()) at time zone 'UTC');
begin
  if cardinality(teams) = 0 then return; end if;
  loop
    lowest := case when months > 16 then '00000000-0000-0000-0000-000000000000' else uuid_at(starts at time zone 'UTC') end;
    return query 
  select a.* from activity a
  where (a.project_id, a.activity_id) >= ($3, lowest) and (a.project_id, a.activity_id) < ($3, highest)
    and a.project_id is not null and a.activity_id >= lowest and a.activity_id < highest and ($2 is null or a.team_id = $2) and ($3 is null or a.project_id = $3) and ($4 is null or a.entity_type = $4)
  and ($5 is null or a.entity_id = $5) and ($6 is null or a.user_id = $6) and a.team_id = any(teams) order by a.project_id desc, a.activity_id desc limit $8 - found;
    get diagnostics part = row_count;
    found := found + part;
    exit when found >= $8 or months > 16;
    highest := least(highest, lowest);
    starts := starts - make_interval(months => months);
    months := months * 2;
  end loop;
end $$;

-- The same of an entity, by its own index.
create function activity_of_entity(uuid, uuid, uuid, text, text, uuid, uuid, integer) returns setof activity language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off as $$
declare
  -- All lines of a project are of its team: nobody else's request reads them.
  teams uuid[] := array(select m.team_id from memberships m where m.user_id = $1 and ($2 is null or m.team_id = $2)
    and m.team_id = coalesce((select p.team_id from projects p where p.project_id = $3), m.team_id));
  found integer := 0;
  part integer;
  months integer := 1;
  highest uuid := $7;
  lowest uuid;
  -- Null for a cursor that is no UUIDv7, such as the highest id.
  starts timestamp := date_trunc('month', least(coalesce(uuid_extract_timestamp($7), now()), now()) at time zone 'UTC');
begin
  if cardinality(teams) = 0 then return; end if;
  loop
    lowest := case when months > 16 then '00000000-0000-0000-0000-000000000000' else uuid_at(starts at time zone 'UTC') end;
    return query 
  select a.* from activity a
  where (a.entity_id, a.activity_id) >= ($5, lowest) and (a.entity_id, a.activity_id) < ($5, highest)
    and a.entity_id is not null and a.activity_id >= lowest and a.activity_id < highest and ($2 is null or a.team_id = $2) and ($3 is null or a.project_id = $3) and ($4 is null or a.entity_type = $4)
  and ($5 is null or a.entity_id = $5) and ($6 is null or a.user_id = $6) and a.team_id = any(teams) order by a.entity_id desc, a.activity_id desc limit $8 - found;
    get diagnostics part = row_count;
    found := found + part;
    exit when found >= $8 or months > 16;
    highest := least(highest, lowest);
    starts := starts - make_interval(months => months);
    months := months * 2;
  end loop;
end $$;
