import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { lowestIdAt } from '../../platform/ids.js';
import { ofEntity, ofProject, ofTeams } from './activity-between.sql.js';
import { findCauses } from './find-causes.js';
import type { ActivityChanges } from './schema.js';

/** Which lines: of some of the caller's teams (null for all), of one project or of one item, and by whom. */
export interface ActivityFilter {
  teamIds: readonly string[] | null;
  projectId?: string | null;
  entityId?: string | null;
  userId?: string | null;
  /** Null for changes of anybody. */
  actorType?: ActivityLine['actor_type'] | null;
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
  /** The automation that made the change; null for others, and for one that the caller may not read. */
  automation: string | null;
}

type Row = ActivityLine & { activity_id: string | null; audit_id: string | null; is_cut: boolean } & Record<string, unknown>;

/**
 * Lists what was done in a time, newest first, in teams of the caller. It examines the newest lines of that time, 5,000 of all teams together.
 * @returns the lines, and whether there may be more that were not examined
 */
export async function activityBetween(
  ctx: Context,
  { teamIds, projectId = null, entityId = null, userId = null, actorType = null, from, to }: ActivityFilter,
  limit: number,
): Promise<{ lines: ActivityLine[]; isCut: boolean }> {
  const statement = entityId !== null ? ofEntity : projectId !== null ? ofProject : ofTeams;
  const values = [
    requireUser(ctx),
    teamIds ?? [null],
    entityId ?? projectId,
    userId,
    lowestIdAt(from),
    lowestIdAt(to),
    limit,
    actorType,
  ];
  const rows = await run<Row>(ctx.db, statement, values);
  const found = rows.filter((row): row is Row & { activity_id: string } => row.activity_id !== null);
  const causes = await findCauses(ctx, found);
  const lines = found.map((row) => {
    const { changes = null, cause } = causes.get(row.audit_id) ?? {};
    return { ...row, changes, automation: cause?.automation_name ?? null };
  });
  return { lines, isCut: rows[0]?.is_cut === true };
}
