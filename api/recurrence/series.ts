import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { run, type Statement } from '../../db/statement.js';
import type { Context, Services } from '../core/context.js';
import type { EndReason, Recurrence } from './rules.js';

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
  /** The user who moved it last, under which correlation id, how many automations deep; `user_ids`: that user and the people behind. */
  cause: { actor_id: string; correlation_id: string; depth: number; user_ids?: string[] };
  /** The database's clock. */
  now: Date;
}

/** The newest occurrence of a series, or one of the subtasks that are copied with it. */
export interface Occurrence extends Record<string, unknown> {
  task_id: string;
  project_id: string;
  title: string;
  description: string | null;
  assigned_to: string | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  due_date: string | null;
  tags: string[];
  estimated_hours: number | null;
  parent_task_id: string | null;
  position: number | null;
  recurrence: Recurrence | null;
  deleted_at: Date | null;
}

const readStatement: Statement = {
  name: 'series_read',
  text: 'select s.*, clock_timestamp() as now from task_series s where s.series_id = $1',
};
const lockStatement: Statement = { name: 'lock_series', text: `${readStatement.text} for update` };

/** Trashing takes the project first and its tasks after it; so does whoever waits here. */
const lockProjectStatement: Statement = {
  name: 'lock_series_project',
  text: 'select p.project_id from projects p join tasks t using (project_id) where t.task_id = $1 for key share of p',
};
const lockTaskStatement: Statement = {
  name: 'lock_series_task',
  text: 'select * from tasks where task_id = $1 for no key update',
};

/**
 * The series with its newest occurrence, both held until the commit; undefined when there is no such series. Project, task,
 * series: the order in which people's own changes take them. Where another execution was faster, the newer occurrence is held.
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

/** $1 series. The series' creator while they may write; else who moved it last, if they may. */
const actorStatement: Statement = {
  name: 'series_actor',
  text: /* sql */ `
    select u.user_id, u.email, u.role from task_series s
    join memberships m on m.team_id = s.team_id and m.user_id in (s.created_by, (s.cause->>'actor_id')::uuid) and m.role <> 'guest'
    join users u on u.user_id = m.user_id and u.status = 'active'
    where s.series_id = $1 order by u.user_id = s.created_by desc limit 1`,
};

const base = (services: Services, series: Series): Omit<Context, 'actor'> => ({
  ...services,
  requestId: uuidv7(),
  correlationId: series.cause.correlation_id,
  ip: null,
  userAgent: `recurring series ${series.series_id}`,
});

/** The service's own hand on a series: for what no person did. */
export const systemContext = (services: Services, series: Series): Context => ({
  ...base(services, series),
  actor: { type: 'system', name: 'recurrence' },
});

/**
 * The series acting as its creator, with the creator's rights at this moment (R6). Where the creator may no longer write, it
 * passes to whoever set the last occurrence done. Undefined when nobody is left.
 */
export async function actorContext(services: Services, series: Series): Promise<Context | undefined> {
  const [person] = await run<{ user_id: string; email: string; role: 'user' | 'admin' }>(services.db, actorStatement, [
    series.series_id,
  ]);
  if (!person) return undefined;
  const { user_id: userId, email, role } = person;
  // What the clock brings is nobody's consequence: only a completion hands its depth on.
  const depth = series.completed_index >= series.last_index ? series.cause.depth : 0;
  return {
    ...base(services, series),
    actor: { type: 'series', userId, email, role, depth, causeUserIds: series.cause.user_ids ?? [] },
  };
}
