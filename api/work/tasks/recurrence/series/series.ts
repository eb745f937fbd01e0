import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../../db/statement.js';
import { rolesFor } from '../../../../platform/access/access.js';
import type { Context, Services } from '../../../../platform/context.js';
import type { TaskColumn } from '../../columns.js';
import type { Task } from '../../schema.js';
import type { EndReason, Recurrence } from '../rules.js';
import { newId } from '../../../../platform/ids.js';
import type { InstanceRole } from '../../../../platform/access/actor.js';

export interface Series extends Record<string, unknown> {
  series_id: string;
  team_id: string;
  recurrence: Recurrence;
  created_by: string;
  anchor: string | null;
  started_at: Date;
  last_index: number;
  last_task_id: string | null;
  completed_index: number;
  completed_at: Date | null;
  blocked_reason: string | null;
  ended_at: Date | null;
  end_reason: EndReason | null;
  /** Users behind the rule. */
  rule_set_by: string[];
  /**
   * The user of the last change, its correlation id and automation depth; `user_ids`: the users of the changes since the newest occurrence,
   * with those behind them.
   */
  cause: { actor_id: string; correlation_id: string; depth: number; user_ids?: string[] };
  /** Time of the database. */
  now: Date;
}

/** What the next occurrence takes over from a task of the newest one. */
export type CopiedFields = Pick<
  Task,
  TaskColumn<'copied'> | 'task_id' | 'project_id' | 'assigned_to' | 'due_date' | 'parent_task_id'
> &
  Record<string, unknown>;

/** The newest occurrence of a series. */
export interface Occurrence extends CopiedFields {
  recurrence: Recurrence | null;
  deleted_at: Date | null;
}

const readStatement = defineStatement({
  name: 'series_read',
  text: 'select s.*, clock_timestamp() as now from task_series s where s.series_id = $1',
});
const lockStatement = defineStatement({ name: 'lock_series', text: `${readStatement.text} for update` });

/** Lock order: project, then tasks, as in trashing. */
const lockProjectStatement = defineStatement({
  name: 'lock_series_project',
  text: 'select p.project_id from projects p join tasks t using (project_id) where t.task_id = $1 for key share of p',
});
const lockTaskStatement = defineStatement({
  name: 'lock_series_task',
  text: 'select * from tasks where task_id = $1 for no key update',
});

/**
 * Locks and returns the series with its newest occurrence; undefined if there is none. Lock order: project, task, series, as in
 * users' own changes. Retries if another execution has created a newer occurrence.
 */
export async function lockSeries(
  db: Knex,
  seriesId: string,
): Promise<{ series: Series; task: Occurrence | undefined } | undefined> {
  for (;;) {
    const [before] = await run<Series>(db, readStatement, [seriesId]);
    if (!before) return undefined;
    await run(db, lockProjectStatement, [before.last_task_id]);
    const [task] = await run<Occurrence>(db, lockTaskStatement, [before.last_task_id]);
    const [series] = await run<Series>(db, lockStatement, [seriesId]);
    if (series?.last_task_id === before.last_task_id) return { series, task };
  }
}

/** $1 = series id, $2 = roles that may write. Returns the creator if they may write; otherwise the user of the last change, if they may. */
const actorStatement = defineStatement({
  name: 'series_actor',
  text: /* sql */ `
    select u.user_id, u.email, u.role from task_series s
    join memberships m on m.team_id = s.team_id and m.user_id in (s.created_by, (s.cause->>'actor_id')::uuid) and m.role = any($2::text[])
    join users u on u.user_id = m.user_id and u.status = 'active'
    where s.series_id = $1 order by u.user_id = s.created_by desc limit 1`,
});

const base = (services: Services, series: Series): Omit<Context, 'actor'> => ({
  ...services,
  requestId: newId(),
  correlationId: series.cause.correlation_id,
  ip: null,
  userAgent: `recurring series ${series.series_id}`,
});

/** Builds the system context for a series, for changes that no user made. */
export const systemContext = (services: Services, series: Series): Context => ({
  ...base(services, series),
  actor: { type: 'system', name: 'recurrence' },
});

/**
 * Builds the context of a series: it acts as its creator, with the creator's current permissions
 * (docs/decisions/automation.md#acting-as-the-creator). If the creator may not write, it acts as the user who completed the last occurrence.
 * Undefined if neither may.
 */
export async function actorContext(services: Services, series: Series): Promise<Context | undefined> {
  const [person] = await run<{ user_id: string; email: string; role: InstanceRole }>(services.db, actorStatement, [
    series.series_id,
    rolesFor('task.write'),
  ]);
  if (!person) return undefined;
  const { user_id: userId, email, role } = person;
  // Only a completion passes its automation depth on; an occurrence by schedule has no cause.
  const depth = series.completed_index >= series.last_index ? series.cause.depth : 0;
  return {
    ...base(services, series),
    actor: {
      type: 'series',
      userId,
      email,
      role,
      depth,
      causeUserIds: [...new Set([...series.rule_set_by, ...(series.cause.user_ids ?? [])])],
    },
  };
}
