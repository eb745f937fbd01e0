import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import type { CYCLE_STATUSES } from '../../work/cycles/rules.js';
import { madeStatement } from './read-made.sql.js';
import { findJob } from './read-jobs.js';

/** Projects, and cycles, that are read at most; tasks, whose projects count too. */
const MAX_LISTED = 50;
const MAX_TASKS = 2_000;

interface Made extends Record<string, unknown> {
  kind: 'project' | 'cycle';
  id: string;
  name: string;
  /** Of a cycle. */
  status: (typeof CYCLE_STATUSES)[number] | null;
}

/**
 * Returns where the records of an import are: up to 50 projects by their names, and up to 50 cycles, the latest first.
 * @throws RESOURCE_NOT_FOUND no such job | PERMISSION_DENIED below manager
 */
export async function readMade(ctx: Context, jobId: string): Promise<{ projects: Made[]; cycles: Made[] }> {
  const { team_id } = await findJob(ctx, 'bulk.read', jobId);
  const rows = await run<Made>(ctx.db, madeStatement, [jobId, team_id, MAX_LISTED, MAX_TASKS]);
  const of = (kind: Made['kind']) => rows.filter((row) => row.kind === kind);
  return { projects: of('project'), cycles: of('cycle') };
}
