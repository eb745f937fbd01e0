import { defineStatement, run, type Statement } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { lowestIdAt } from '../../platform/ids.js';
import { findCauses } from './find-causes.js';
import type { ActivityChanges } from './schema.js';

/** Newest lines of a time that one question examines, of all teams together; and at least so many of each. */
export const MAX_LINES = 5_000;
const MIN_LINES_OF_TEAM = 200;

/** Which lines: of some of the caller's teams (null for all), of one project or of one item, and by whom. */
export interface ActivityFilter {
  teamIds: readonly string[] | null;
  projectId?: string | null;
  entityId?: string | null;
  userId?: string | null;
  /** Ms since 1970; `to` is exclusive. */
  from: number;
  to: number;
}

/** A line of the feed. */
export interface ActivityLine {
  timestamp: Date;
  user_id: string | null;
  user_name: string | null;
  actor_type: 'user' | 'automation' | 'agent' | 'system';
  action: string;
  entity_type: string;
  entity_id: string;
  entity_title: string | null;
  summary: string;
  changes: ActivityChanges | null;
}

/** SQL: lines of each of the teams $2, or of all of the caller's for null in it. */
const LINES_OF_TEAM = `(select greatest(${MAX_LINES} / greatest(count(*), 1), ${MIN_LINES_OF_TEAM}) from memberships m
      where m.user_id = $1 and (m.team_id = any($2) or $2[1] is null))`;

/**
 * $1 = caller id, $2 = team ids, or null in a list, $3 = project or item, or null, $4 = user id or null, $5 = lowest id, $6 = highest id (exclusive),
 * $7 = row limit. Functions of the database read the newest lines before $6, by one index and a part of the months at a time; those from $5 on
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
  select * from read r where r.activity_id >= $5::uuid and ($4::uuid is null or r.user_id = $4)
)
select exists (select from read r group by r.place having count(*) >= max(r.lines) and min(r.activity_id::text) >= $5::text) as is_cut, l.*, u.name as user_name
from (select) as one left join lateral (
  select e.activity_id, uuid_extract_timestamp(e.activity_id) as timestamp, e.user_id, e.actor_type, e.action, e.entity_type, e.entity_id,
    e.entity_title, e.summary, e.audit_id
  from examined e order by e.activity_id desc limit $7
) l on true left join users u on u.user_id = l.user_id
order by l.activity_id desc`,
  });

const ofTeams = between('activity_between_of_teams', 'activity_of_teams($1, t.id, null, null, $3::text, null, $6, t.lines)');
const ofProject = between(
  'activity_between_of_project',
  'activity_of_project($1, t.id, $3::uuid, null, null, null, $6, t.lines)',
);
const ofEntity = between('activity_between_of_entity', 'activity_of_entity($1, t.id, null, null, $3::text, null, $6, t.lines)');

type Row = ActivityLine & { activity_id: string | null; audit_id: string | null; is_cut: boolean } & Record<string, unknown>;

/**
 * Lists what was done in a time, newest first, in teams of the caller. It examines the newest lines of that time, 5,000 of all teams together.
 * @returns the lines, and whether there may be more that were not examined
 */
export async function activityBetween(
  ctx: Context,
  { teamIds, projectId = null, entityId = null, userId = null, from, to }: ActivityFilter,
  limit: number,
): Promise<{ lines: ActivityLine[]; isCut: boolean }> {
  const statement = entityId !== null ? ofEntity : projectId !== null ? ofProject : ofTeams;
  const values = [requireUser(ctx), teamIds ?? [null], entityId ?? projectId, userId, lowestIdAt(from), lowestIdAt(to), limit];
  const rows = await run<Row>(ctx.db, statement, values);
  const found = rows.filter((row): row is Row & { activity_id: string } => row.activity_id !== null);
  const causes = await findCauses(ctx, found);
  const lines = found.map((row) => ({ ...row, changes: causes.get(row.audit_id)?.changes ?? null }));
  return { lines, isCut: rows[0]?.is_cut === true };
}
