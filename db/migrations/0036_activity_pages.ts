import type { Knex } from 'knex';

/** Pages of the activity feed, read from the newest months first. */
export async function up(knex: Knex): Promise<void> {
  for (const [name, rows] of [
    ['activity_of_teams', OF_TEAMS],
    ['activity_of_project', OF_PROJECT],
    ['activity_of_entity', OF_ENTITY],
  ] as const)
    await knex.raw(pages(name, rows));
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}

const FILTERS = /* sql */ `($2 is null or a.team_id = $2) and ($3 is null or a.project_id = $3) and ($4 is null or a.entity_type = $4)
  and ($5 is null or a.entity_id = $5) and ($6 is null or a.user_id = $6)`;
const NEWEST = 'order by a.activity_id desc limit $8 - found';

/**
 * The newest lines whose `column` is `value`, from the index of both columns. To an equality the planner could prefer the primary key, which has
 * the order too: a team with few lines among teams with many would read a month of theirs. Only this index has the order of rows
 * without a sort, and sorts are off here. The bounds of the id alone say which partitions are opened.
 */
const newest = (column: string, value: string): string => /* sql */ `
  select a.* from activity a
  where (a.${column}, a.activity_id) >= (${value}, lowest) and (a.${column}, a.activity_id) < (${value}, highest)
    and a.${column} is not null and a.activity_id >= lowest and a.activity_id < highest and ${FILTERS}`;
const inOrder = (column: string): string => `order by a.${column} desc, a.activity_id desc limit $8 - found`;

/** Merges the newest lines of each of the caller's teams. */
const OF_TEAMS = /* sql */ `
  select a.* from unnest(teams) m(id) cross join lateral (${newest('team_id', 'm.id')} ${inOrder('team_id')}) a ${NEWEST}`;
const OF_PROJECT = `${newest('project_id', '$3')} and a.team_id = any(teams) ${inOrder('project_id')}`;
const OF_ENTITY = `${newest('entity_id', '$5')} and a.team_id = any(teams) ${inOrder('entity_id')}`;

/** Earlier months than these are read at once. */
const MONTHS = 16;

/**
 * $1 = caller id; filters, each null for all: $2 = team id, $3 = project id, $4 = entity type, $5 = entity id, $6 = user id; $7 = cursor
 * (exclusive), $8 = row limit. Returns the newest rows, newest first. A statement over all partitions plans for longer than it reads, or opens all of
 * them; so this one reads a month, then one more, two, four and so on, until it has enough. The bounds are parameters, so a kept plan
 * opens the partitions of that time only.
 */
const pages = (name: string, rows: string): string => /* sql */ `
create function ${name}(uuid, uuid, uuid, text, text, uuid, uuid, integer) returns setof activity language plpgsql stable
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
    lowest := case when months > ${MONTHS} then '00000000-0000-0000-0000-000000000000' else uuid_at(starts at time zone 'UTC') end;
    return query ${rows};
    get diagnostics part = row_count;
    found := found + part;
    exit when found >= $8 or months > ${MONTHS};
    highest := least(highest, lowest);
    starts := starts - make_interval(months => months);
    months := months * 2;
  end loop;
end $$`;
