import { defineStatement, run, type Statement } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { lowestIdAt } from '../../platform/ids.js';
import { findCauses } from './find-causes.js';
import type { ActivityChanges } from './schema.js';

/** Newest lines of a time that one question examines, of all teams together; and at least so many of each. */
export const MAX_LINES = 5_000;
const MIN_LINES_OF_TEAM = 50;

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

/**
 * SQL: the newest lines of one range of an index, which a comparison of rows has in order. $1 = caller id, $2 = team ids or null, $3 = project or
 * item, $4 = user id or null, $5 = lowest id, $6 = highest id (exclusive), $7 = row limit. One row at least tells how many were examined.
 */
const between = (name: string, column: string, type: string, value: string, limit: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
with places as materialized (
  select m.team_id from memberships m where m.user_id = $1 and ($2::uuid[] is null or m.team_id = any($2))
), examined as materialized (
  select a.* from ${value === 'p.team_id' ? 'places p' : `(select ${value} as id) p`} cross join lateral (
    select a.* from activity a
    where (a.${column}, a.activity_id) >= (${value}, $5::uuid) and (a.${column}, a.activity_id) < (${value}, $6::uuid)
      and a.${column} is not null and a.activity_id >= $5 and a.activity_id < $6 and $3::${type} is not distinct from $3
    order by a.${column} desc, a.activity_id desc limit ${limit}
  ) a where a.team_id in (select p.team_id from places p)
)
select c.examined, l.*, u.name as user_name from (select count(*)::int as examined from examined) c
left join lateral (
  select e.activity_id, uuid_extract_timestamp(e.activity_id) as timestamp, e.user_id, e.actor_type, e.action, e.entity_type, e.entity_id,
    e.entity_title, e.summary, e.audit_id
  from examined e where $4::uuid is null or e.user_id = $4 order by e.activity_id desc limit $7
) l on true left join users u on u.user_id = l.user_id
order by l.activity_id desc`,
  });

const ofTeams = between(
  'activity_between_of_teams',
  'team_id',
  'text',
  'p.team_id',
  `(select greatest(${MAX_LINES} / greatest(count(*), 1), ${MIN_LINES_OF_TEAM}) from places)`,
);
const ofProject = between('activity_between_of_project', 'project_id', 'uuid', '$3::uuid', String(MAX_LINES));
const ofEntity = between('activity_between_of_entity', 'entity_id', 'text', '$3::text', String(MAX_LINES));

type Row = ActivityLine & { activity_id: string | null; audit_id: string | null; examined: number } & Record<string, unknown>;

/**
 * Lists what was done in a time, newest first, in teams of the caller. It examines the newest 5,000 lines of that time.
 * @returns the lines, and whether there may be more that were not examined
 */
export async function activityBetween(
  ctx: Context,
  { teamIds, projectId = null, entityId = null, userId = null, from, to }: ActivityFilter,
  limit: number,
): Promise<{ lines: ActivityLine[]; isCut: boolean }> {
  const statement = entityId !== null ? ofEntity : projectId !== null ? ofProject : ofTeams;
  const values = [requireUser(ctx), teamIds, entityId ?? projectId, userId, lowestIdAt(from), lowestIdAt(to), limit];
  const rows = await run<Row>(ctx.db, statement, values);
  const found = rows.filter((row): row is Row & { activity_id: string } => row.activity_id !== null);
  const causes = await findCauses(ctx, found);
  const lines = found.map((row) => ({ ...row, changes: causes.get(row.audit_id)?.changes ?? null }));
  return { lines, isCut: (rows[0]?.examined ?? 0) >= MAX_LINES };
}
