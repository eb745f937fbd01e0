import { authorizeManage } from '../../definitions/policy.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import type { ActionLine } from '../../../gate/staging/schema.js';
import { readRun } from '../execution/load-run.js';
import { namesAt } from '../names-at.js';
import { collectWanted, presentSteps } from './describe-gates.js';
import { tryRun } from './stage-tail.js';

/** What the actions of a dry run would do now. */
export interface DescribedDryRun {
  lines: ActionLine[];
  /** Name of the user as whom they would act; null if the readers may not know it. */
  actor: string | null;
  /** False if a row was locked, or a trial took too long: old values are missing then. */
  tried: boolean;
}

/**
 * Returns every action of a dry run as its gates would show it: filled in from the event, tried as the automation's creator, and rolled back. A
 * trial locks what it would change, so it is for those who may start the automation.
 * @throws RESOURCE_NOT_FOUND no dry run of this automation | PERMISSION_DENIED neither the creator nor a manager
 */
export async function describeDryRun(ctx: Context, automationId: string, runId: string): Promise<DescribedDryRun> {
  const run = await readRun(ctx.db, runId);
  if (!run?.is_test || run.automation_id !== automationId) throw notFound('Dry run');
  const { team_id, creator_id } = run;
  const seat = team_id === null ? null : await findSeat(ctx, team_id);
  authorizeManage('automation.dispatch', { team_id, created_by: creator_id }, { userId: requireUser(ctx), seat });
  if (run.status === 'skipped') return { lines: [], actor: null, tried: true };
  const { actions, tried } = await tryRun(ctx, run);
  const [names = {}] = await namesAt(ctx, [collectWanted(team_id ?? creator_id, actions, creator_id)]);
  return { lines: presentSteps(actions, names), actor: names[creator_id] ?? null, tried };
}
