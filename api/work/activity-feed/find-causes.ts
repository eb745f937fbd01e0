import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { listTaskColumns } from '../tasks/columns.js';
import { causesStatement } from './causes.sql.js';
import type { ActivityCause, ActivityChanges, ActivityEntry } from './schema.js';

/** Fields whose values a line tells: short, and readable for every member. Ids of records whose titles may not be are left out. */
const FIELDS = [...listTaskColumns('announced'), 'name', 'start_date', 'end_date', 'lead_id'];
/** Entities whose fields every member of the team may read. */
const TYPES = ['task', 'project', 'file', 'note', 'whiteboard', 'doc'];

interface Line {
  activity_id: string;
  /** Null in lines of older versions of the service. */
  audit_id: string | null;
}
interface CauseAndChanges {
  cause: ActivityCause | null;
  rejected_run: ActivityEntry['rejected_run'];
  changes: ActivityChanges | null;
}

/**
 * Returns what caused the changes of a page of lines, what they changed and which run was rejected, by audit id. The caller may read the lines. An entry that is
 * archived is absent.
 */
export async function findCauses(ctx: Context, lines: readonly Line[]): Promise<Map<string | null, CauseAndChanges>> {
  const known = lines.filter(({ audit_id }) => audit_id !== null);
  if (known.length === 0) return new Map();
  const ids = [known.map(({ audit_id }) => audit_id), known.map(({ activity_id }) => activity_id)];
  type Row = CauseAndChanges & { audit_id: string };
  const rows = await run<Row & Record<string, unknown>>(ctx.db, causesStatement, [requireUser(ctx), ...ids, FIELDS, TYPES]);
  return new Map(rows.map(({ audit_id, cause, rejected_run, changes }) => [audit_id, { cause, rejected_run, changes }]));
}
