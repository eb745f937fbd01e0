import { defineStatement, type Statement } from '../../../db/statement.js';

/** Newest lines of a time that one question examines, of all teams together; and at least so many of each. */
export const MAX_LINES = 5_000;
const MIN_LINES_OF_TEAM = 200;

/** SQL: lines of each of the teams $2, or of all of the caller's for null in it. */
const LINES_OF_TEAM = `(select greatest(${MAX_LINES} / greatest(count(*), 1), ${MIN_LINES_OF_TEAM}) from memberships m
      where m.user_id = $1 and (m.team_id = any($2) or $2[1] is null))`;

/**
 * $1 = caller id, $2 = team ids, or null in a list, $3 = project or item, or null, $4 = user id or null, $5 = lowest id, $6 = highest id (exclusive),
 * $7 = row limit, $8 = type of the actor, or null. Functions of the database read the newest lines before $6, by one index and a part of the months at a time; those from $5 on
 * count. At least one row; `is_cut`: all lines that were read are of the time, so that there may be more.
 */
const between = (name: string, lines: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
with read as materialized (
  select a.*, t.place, t.lines from (
    select given.id, given.place, ${LINES_OF_TEAM}::int as lines from unnest($2::uuid[]) with ordinality as given(id, place)
  ) t cross join lateral ${lines} a
), examined as materialized (
  select * from read r where r.activity_id >= $5::uuid and ($4::uuid is null or r.user_id = $4) and ($8::text is null or r.actor_type = $8)
)
select exists (select from read r group by r.place having count(*) >= max(r.lines) and min(r.activity_id::text) >= $5::text) as is_cut, l.*, u.name as user_name
from (select) as one left join lateral (
  select e.activity_id, uuid_extract_timestamp(e.activity_id) as timestamp, e.user_id, e.actor_type, e.action, e.entity_type, e.entity_id,
    e.entity_title, e.summary, e.audit_id
  from examined e order by e.activity_id desc limit $7
) l on true left join users u on u.user_id = l.user_id
order by l.activity_id desc`,
  });

export const ofTeams = between(
  'activity_between_of_teams',
  'activity_of_teams($1, t.id, null, null, $3::text, null, $6, t.lines)',
);
export const ofProject = between(
  'activity_between_of_project',
  'activity_of_project($1, t.id, $3::uuid, null, null, null, $6, t.lines)',
);
export const ofEntity = between(
  'activity_between_of_entity',
  'activity_of_entity($1, t.id, null, null, $3::text, null, $6, t.lines)',
);
