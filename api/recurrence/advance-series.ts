import type { SeriesView } from '../../workflows/contract.js';
import type { AuditAction } from '../core/audit-actions.js';
import { withRetries, type Services } from '../core/context.js';
import { DomainError } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { updateTask } from '../tasks/write/update-task.js';
import { decideStep } from './decide-step.js';
import { createOccurrence } from './create-occurrence.js';
import { END_WORDS, type EndReason } from './rules.js';
import { actorContext, lockSeries, type Occurrence, type Series, systemContext } from './series.js';

const NOBODY = 'neither its creator nor whoever did the last one may write in the team';

type Held = { series: Series; task: Occurrence | undefined };

const viewOf = ({ series, task }: Held, state: SeriesView['state'], rest: Partial<SeriesView> = {}): SeriesView => ({
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

const update = (services: Services, { series_id }: Series, fields: Record<string, unknown>): Promise<unknown> =>
  services.db('task_series').where({ series_id }).update(fields);

/** What the audit log and the activity feed say of a series that no longer goes on: told on its newest occurrence. */
async function tell(
  services: Services,
  { series, task }: Held,
  action: AuditAction,
  words: string,
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
    summary: words,
    details: { series_id: series.series_id, occurrence_index: series.last_index, reason: words },
  });
}

async function end(services: Services, held: Held, reason: EndReason): Promise<SeriesView> {
  await update(services, held.series, {
    ended_at: services.db.fn.now(),
    end_reason: reason,
    next_at: null,
    blocked_reason: null,
  });
  await tell(services, held, 'end_series', `ended the series: ${END_WORDS[reason]}`);
  return viewOf(held, 'ended', { reason: END_WORDS[reason] });
}

/** Told once, however often it is tried again. */
async function block(services: Services, held: Held, reason: string): Promise<SeriesView> {
  if (held.series.blocked_reason !== reason) {
    await update(services, held.series, { blocked_reason: reason, next_at: null });
    await tell(services, held, 'block_series', `could not continue the series: ${reason}`, true);
  }
  return viewOf(held, 'blocked', { reason });
}

/** A rule that was changed or taken away on an older occurrence holds for the newest one too, which everybody looks at. */
async function align(services: Services, { series, task }: Held): Promise<void> {
  if (!task || task.deleted_at || (series.ended_at && series.end_reason !== 'cancelled')) return;
  const recurrence = series.ended_at ? null : series.recurrence;
  if (JSON.stringify(task.recurrence) === JSON.stringify(recurrence)) return;
  const ctx = await actorContext(services, series);
  if (ctx) await updateTask(ctx, task.task_id, { recurrence });
}

async function make(services: Services, held: Held, due: string, anchor: string): Promise<SeriesView> {
  const { series } = held;
  const ctx = await actorContext(services, series);
  if (!ctx || ctx.actor.type === 'system') return block(services, held, NOBODY);
  try {
    // A savepoint: where a subtask is refused, nothing of the occurrence stays.
    const last_task_id = await services.db.transaction((db) => createOccurrence({ ...ctx, db }, series, due));
    const last_index = series.last_index + 1;
    const created_by = ctx.actor.userId;
    await update(services, series, { last_task_id, last_index, anchor, created_by, next_at: null, blocked_reason: null });
    return viewOf({ ...held, series: { ...series, last_task_id, last_index } }, 'waiting', { made: true, dueDate: due });
  } catch (error) {
    if (error instanceof DomainError && error.status < 500) return block(services, held, error.message);
    throw error;
  }
}

async function advance(services: Services, seriesId: string): Promise<SeriesView | null> {
  const held = await lockSeries(services.db, seriesId);
  if (!held) return null;
  const { series, task } = held;
  await align(services, held);
  if (series.ended_at) return viewOf(held, 'ended', { reason: series.end_reason && END_WORDS[series.end_reason] });
  if (!task) return end(services, held, 'purged');
  if (task.deleted_at) {
    await update(services, series, { next_at: null });
    return viewOf(held, 'resting', { reason: 'its latest occurrence is in the trash' });
  }
  const step = decideStep(series, task);
  if (step.kind === 'end') return end(services, held, step.reason);
  if (step.kind === 'make') return make(services, held, step.due, step.anchor);
  await update(services, series, { next_at: step.at, blocked_reason: null });
  const msLeft = step.at && Math.max(0, step.at.getTime() - series.now.getTime());
  return viewOf(held, 'waiting', { nextAt: step.at?.toISOString() ?? null, msLeft });
}

/**
 * Does what is due in a series: makes the next occurrence, at most one a call, or ends it. May be called at any time and any
 * number of times: the series' row is held, and (series_id, occurrence_index) is unique.
 * @returns where the series stands; null when there is none of this id
 * Source: contract, section 3, status update to `done`; decision C7.
 */
export async function advanceSeries(services: Services, seriesId: string): Promise<SeriesView | null> {
  const view = await withRetries(services, () => services.db.transaction((db) => advance({ ...services, db }, seriesId)));
  services.notifyRelay();
  return view;
}
