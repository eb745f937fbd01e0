import { defineStatement, run as runStatement } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { lowestIdAt, timeOfId } from '../../platform/ids.js';
import { findCauses } from '../../work/activity-feed/find-causes.js';
import { conditionScope } from '../language/condition-scope.js';
import { type ConditionExplanation, explainCondition } from '../language/explain-condition.js';
import { eventOfChange, fits, readTask, startsByTask } from './dispatch/task-events.js';
import type { RunRecord } from './schema.js';
import { readSurroundings } from './surroundings.js';

/** Lines of the activity that are compared with the moment of a run, and how long after it a change may have written its line. */
const MAX_LINES = 200;
const LATEST_MS = 5_000;

/**
 * $1 = caller id, $2 = team id or null, $3 = user id or null, $4 = the moment, $5 and $6 = bounds of the ids of lines written from then on, $7 = row
 * limit. Changes of tasks that began in that millisecond, in the caller's teams. The bounds are seconds apart, so each team is one short range of its
 * index.
 */
const changesAtStatement = defineStatement({
  name: 'task_changes_at',
  text: /* sql */ `
    select a.activity_id, a.audit_id, a.action, a.entity_id from memberships m cross join lateral (
      select l.* from activity l
      where l.team_id = m.team_id and l.activity_id >= $5::uuid and l.activity_id < $6::uuid and l.entity_type = 'task'
        and ($3::uuid is null or l.user_id = $3) and date_trunc('milliseconds', l.timestamp) = $4::timestamptz
      limit $7
    ) a
    where m.user_id = $1 and ($2::uuid is null or m.team_id = $2) limit $7`,
});

/** Why a run was skipped. */
export interface SkippedExplanation {
  /** The event; null if it is not known. */
  event: Record<string, unknown> | null;
  /** The event was not stored: it is built from the activity and the task as it is now. */
  isRebuilt: boolean;
  /** Changes at the same moment, any of which the run can be about. */
  candidates: number;
  condition: ConditionExplanation | null;
}

type Found = Pick<SkippedExplanation, 'event' | 'isRebuilt' | 'candidates'>;

interface Line extends Record<string, unknown> {
  activity_id: string;
  audit_id: string | null;
  action: string;
  entity_id: string;
}

/** Finds the change of a task that a run is about: that of the same moment, by the same user, which starts its trigger. */
async function findTaskEvent(ctx: Context, { run_id, team_id, trigger_type, triggered_by }: RunRecord): Promise<Found> {
  const ms = timeOfId(run_id);
  const moment = new Date(ms).toISOString();
  const written = [lowestIdAt(ms), lowestIdAt(ms + LATEST_MS)];
  const values = [requireUser(ctx), team_id, triggered_by, moment, ...written, MAX_LINES];
  const lines = await runStatement<Line>(ctx.db, changesAtStatement, values);
  const causes = await findCauses(ctx, lines);
  const changes = lines.map((line) => ({ ...line, changes: causes.get(line.audit_id)?.changes ?? null }));
  const fitting = changes.filter((change) => fits(trigger_type, change, {}));
  const [only] = fitting;
  const none = { event: null, isRebuilt: true, candidates: fitting.length };
  if (!only || fitting.length > 1) return none;
  try {
    const task = await readTask(ctx, only.entity_id);
    const place = { occurred_at: moment, team_id: task.team_id, project_id: task.project_id, actor_id: triggered_by };
    return { ...none, event: { ...place, ...(await eventOfChange(ctx, only, task)) } };
  } catch (error) {
    if (error instanceof DomainError && error.status < 500) return none;
    throw error;
  }
}

/** Returns the event of a run; of one that other events skipped it is built again, because it was not stored. */
async function findEvent(ctx: Context, run: RunRecord): Promise<Found> {
  const { event, trigger_type, team_id, project_id, queued_at } = run;
  if (Object.keys(event).length > 0) return { event, isRebuilt: false, candidates: 1 };
  if (startsByTask(trigger_type)) return findTaskEvent(ctx, run);
  if (trigger_type !== 'schedule') return { event: null, isRebuilt: true, candidates: 0 };
  const time = { occurred_at: queued_at, scheduled_for: queued_at };
  return { event: { type: 'schedule', ...time, team_id, project_id, actor_id: null }, isRebuilt: true, candidates: 1 };
}

/**
 * Says which parts of its condition skipped a run, and with what event. The caller has read the run. The event of a run that a user started is
 * stored; any other is built from what is kept of the change anyway, so that skipped runs, the most frequent of all, cost no more.
 */
export async function explainSkipped(ctx: Context, run: RunRecord, condition: string | null): Promise<SkippedExplanation> {
  const found = await findEvent(ctx, run);
  const { event } = found;
  if (condition === null || event === null) return { ...found, condition: null };
  const projectId = run.project_id ?? (found.isRebuilt ? event['project_id'] : null);
  const place = { team_id: run.team_id, project_id: typeof projectId === 'string' ? projectId : null };
  const context = { ...(await readSurroundings(ctx, place, event)), now: new Date(run.queued_at) };
  return { ...found, condition: explainCondition(condition, conditionScope(event, context)) };
}
