import { defineStatement, run, type Statement } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { findCauses } from './find-causes.js';
import type { ActivityEntry, ListActivity } from './schema.js';

/** Greater than every id. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * $1 = caller id; filters, each null for all: $2 = team id, $3 = project id, $4 = entity type, $5 = entity id, $6 = user id; $7 = cursor
 * (exclusive), $8 = row limit. The timestamp is the id's, which is the list's order and the cursor; the column holds the start of the
 * transaction.
 */
const named = (name: string, page: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    select a.activity_id, uuid_extract_timestamp(a.activity_id) as timestamp, a.user_id, u.name as user_name, a.actor_type, a.action, a.entity_type, a.entity_id,
      a.entity_title, a.team_id, a.project_id, a.summary, a.audit_id
    from (${page}) a left join users u using (user_id) order by a.activity_id desc`,
  });

/** Functions of the database read a part of the months at a time (db/migrations/0100_baseline/13_activity.sql). */
const ofMonths = (name: string): Statement => named(name, `select * from ${name}($1, $2, $3, $4, $5, $6, $7, $8)`);
export const ofEntity = ofMonths('activity_of_entity');
export const ofProject = ofMonths('activity_of_project');
export const ofTeams = ofMonths('activity_of_teams');

/** Lists the activity of the caller's teams, newest first, as filtered. */
export async function listActivity(ctx: Context, filters: ListActivity): Promise<ActivityEntry[]> {
  const {
    team_id = null,
    project_id = null,
    entity_type = null,
    entity_id = null,
    user_id = null,
    before = LAST_ID,
    limit,
  } = filters;
  const statement = entity_id !== null ? ofEntity : project_id !== null ? ofProject : ofTeams;
  type Row = Omit<ActivityEntry, 'timestamp' | 'cause' | 'rejected_run' | 'changes'> & {
    timestamp: Date;
    audit_id: string | null;
  };
  const values = [requireUser(ctx), team_id, project_id, entity_type, entity_id, user_id, before, limit];
  const rows = await run<Row>(ctx.db, statement, values);
  const causes = await findCauses(ctx, rows);
  return rows.map(({ audit_id, ...row }) => ({
    ...row,
    timestamp: row.timestamp.toISOString(),
    ...(causes.get(audit_id) ?? { cause: null, rejected_run: null, changes: null }),
  }));
}
