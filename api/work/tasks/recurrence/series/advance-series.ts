import { fn, type PartialModelObject } from 'objection';
import { TaskSeries } from '../../../../../db/models/task-series.js';
import type { SeriesView } from '../../../../../workflows/contracts/series-contract.js';
import type { AuditAction } from '../../../../platform/changes/audit-actions.js';
import { withRetries, type Services } from '../../../../platform/context.js';
import { DomainError } from '../../../../platform/errors.js';
import { recordChange } from '../../../../platform/changes/record-change.js';
import { updateTask } from '../../write/update-task.js';
import { decideStep } from './decide-step.js';
import { createOccurrence } from './create-occurrence.js';
import { END_WORDS, type EndReason } from '../rules.js';
import { actorContext, lockSeries, type Occurrence, type Series, systemContext } from './series.js';

const NO_ACTOR = 'neither its creator nor the user who completed the last one may write in the team';

type LockedSeries = { series: Series; task: Occurrence | undefined };

const toView = ({ series, task }: LockedSeries, state: SeriesView['state'], rest: Partial<SeriesView> = {}): SeriesView => ({
  state,
  made: false,
  rule: series.recurrence.rule,
  mode: series.recurrence.mode,
  timezone: series.recurrence.timezone,
  index: series.last_index,
  taskId: series.last_task_id,
  dueDate: task?.due_date ?? null,
  nextAt: null,
  msLeft: null,
  reason: null,
  ...rest,
});

const update = async ({ db }: Services, { series_id }: Series, fields: PartialModelObject<TaskSeries>): Promise<void> => {
  await TaskSeries.query(db).findById(series_id).patch(fields);
};

/** Records the end or the blocking of a series on its newest occurrence. */
async function recordStop(
  services: Services,
  { series, task }: LockedSeries,
  action: AuditAction,
  reason: string,
  denied = false,
): Promise<void> {
  await recordChange(systemContext(services, series), {
    team_id: series.team_id,
    project_id: task?.project_id ?? null,
    feature: 'tasks',
    action,
    outcome: denied ? 'denied' : 'success',
    entity_type: task ? 'task' : 'task_series',
    entity_id: task?.task_id ?? series.series_id,
    ...(task ? { title: task.title } : {}),
    summary: reason,
    details: { series_id: series.series_id, occurrence_index: series.last_index, reason },
  });
}

async function end(services: Services, locked: LockedSeries, reason: EndReason): Promise<SeriesView> {
  await update(services, locked.series, {
    ended_at: fn.now(),
    end_reason: reason,
    next_at: null,
    blocked_reason: null,
  });
  await recordStop(services, locked, 'end_series', `ended the series: ${END_WORDS[reason]}`);
  return toView(locked, 'ended', { reason: END_WORDS[reason] });
}

/** Recorded once, however often it is retried. */
async function block(services: Services, locked: LockedSeries, reason: string): Promise<SeriesView> {
  if (locked.series.blocked_reason !== reason) {
    await update(services, locked.series, { blocked_reason: reason, next_at: null });
    await recordStop(services, locked, 'block_series', `could not continue the series: ${reason}`, true);
  }
  return toView(locked, 'blocked', { reason });
}

/** A rule changed or removed on an older occurrence applies to the newest one too. */
async function align(services: Services, { series, task }: LockedSeries): Promise<void> {
  if (!task || task.deleted_at || (series.ended_at && series.end_reason !== 'cancelled')) return;
  const recurrence = series.ended_at ? null : series.recurrence;
  if (JSON.stringify(task.recurrence) === JSON.stringify(recurrence)) return;
  const ctx = await actorContext(services, series);
  if (ctx) await updateTask(ctx, task.task_id, { recurrence });
}

async function make(services: Services, locked: LockedSeries, due: string, anchor: string): Promise<SeriesView> {
  const { series } = locked;
  const ctx = await actorContext(services, series);
  if (!ctx || ctx.actor.type === 'system') return block(services, locked, NO_ACTOR);
  try {
    // A savepoint: if a subtask is rejected, nothing of the occurrence remains.
    const last_task_id = await services.db.transaction((db) => createOccurrence({ ...ctx, db }, series, due));
    const last_index = series.last_index + 1;
    const created_by = ctx.actor.userId;
    await update(services, series, { last_task_id, last_index, anchor, created_by, next_at: null, blocked_reason: null });
    return toView({ ...locked, series: { ...series, last_task_id, last_index } }, 'waiting', { made: true, dueDate: due });
  } catch (error) {
    if (error instanceof DomainError && error.status < 500) return block(services, locked, error.message);
    throw error;
  }
}

async function advance(services: Services, seriesId: string): Promise<SeriesView | null> {
  const locked = await lockSeries(services.db, seriesId);
  if (!locked) return null;
  const { series, task } = locked;
  await align(services, locked);
  if (series.ended_at) return toView(locked, 'ended', { reason: series.end_reason && END_WORDS[series.end_reason] });
  if (!task) return end(services, locked, 'purged');
  if (task.deleted_at) {
    await update(services, series, { next_at: null });
    return toView(locked, 'resting', { reason: 'its latest occurrence is in the trash' });
  }
  const step = decideStep(series, task);
  if (step.kind === 'end') return end(services, locked, step.reason);
  if (step.kind === 'make') return make(services, locked, step.due, step.anchor);
  await update(services, series, { next_at: step.at, blocked_reason: null });
  const msLeft = step.at && Math.max(0, step.at.getTime() - series.now.getTime());
  return toView(locked, 'waiting', { nextAt: step.at?.toISOString() ?? null, msLeft });
}

/**
 * Advances a series: creates the next occurrence, at most one per call, or ends the series. May be repeated at any time: the
 * series' row is locked, and (series_id, occurrence_index) is unique.
 * @returns the state of the series; null if there is none
 */
export async function advanceSeries(services: Services, seriesId: string): Promise<SeriesView | null> {
  const view = await withRetries(services, () => services.db.transaction((db) => advance({ ...services, db }, seriesId)));
  services.notifyRelay();
  return view;
}
