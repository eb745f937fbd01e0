import { run, type Statement } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { nestTasks, type TaskNode } from './rules.js';
import type { ListTasks } from './schema.js';

/** Most tasks of one answer (contract, section 8). */
const MAX_TASKS = 10_000;

const ORDER = 't.position nulls last, t.created_at, t.task_id';

/** $1 project, $2 caller, $3 status or null, $4 most rows. No row: no such project; one row without a task: it is empty. */
const ofProject: Statement = {
  name: 'list_tasks_of_project',
  text: /* sql */ `
    select m.role as seat, t.task_id, t.parent_task_id, t.json
    from projects p
    left join memberships m on m.team_id = p.team_id and m.user_id = $2
    left join lateral (
      select t.task_id, t.parent_task_id, task_json(t)::text as json from tasks t
      where t.project_id = p.project_id and t.deleted_at is null and ($3::text is null or t.status = $3) and m.role is not null
      order by ${ORDER} limit $4
    ) t on true
    where p.project_id = $1 and p.deleted_at is null`,
};

/** $1 caller, $2 team or null, $3 status or null, $4 most rows, $5 assigned to the caller only. */
const ofTeams: Statement = {
  name: 'list_tasks_of_teams',
  text: /* sql */ `
    select t.task_id, t.parent_task_id, task_json(t)::text as json
    from memberships m join tasks t on t.team_id = m.team_id
    where m.user_id = $1 and ($2::uuid is null or m.team_id = $2) and t.deleted_at is null
      and ($3::text is null or t.status = $3) and (not $5::boolean or t.assigned_to = $1)
    order by ${ORDER} limit $4`,
};

export interface TaskList {
  /** A JSON array, ready to send. */
  json: string;
  truncated: boolean;
}

const cut = <Row>(rows: Row[]) => ({ kept: rows.slice(0, MAX_TASKS), truncated: rows.length > MAX_TASKS });

/**
 * Live tasks with their subtasks nested, as JSON text. A foreign `team_id` gives an empty list (C5).
 * @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team
 * Source: contract, section 4, tasks.
 */
export async function listTasks(ctx: Context, { project_id, team_id, status }: ListTasks): Promise<TaskList> {
  if (project_id === undefined) {
    const { kept, truncated } = cut(
      await run<TaskNode & Record<string, unknown>>(ctx.db, ofTeams, [
        userOf(ctx),
        team_id ?? null,
        status ?? null,
        MAX_TASKS + 1,
        false,
      ]),
    );
    return { json: nestTasks(kept), truncated };
  }
  type Row = { seat: Seat | null; task_id: string | null } & Record<string, unknown>;
  const rows = await run<Row>(ctx.db, ofProject, [project_id, userOf(ctx), status ?? null, MAX_TASKS + 1]);
  const [first] = rows;
  if (!first) throw notFound('Project');
  authorize('task.list', first.seat);
  const { kept, truncated } = cut(rows);
  return { json: nestTasks(kept.filter((row) => row.task_id !== null) as unknown as TaskNode[]), truncated };
}

/** Live tasks assigned to the caller, flat (C1). */
export async function listMyTasks(ctx: Context): Promise<TaskList> {
  const { kept, truncated } = cut(
    await run<TaskNode & Record<string, unknown>>(ctx.db, ofTeams, [userOf(ctx), null, null, MAX_TASKS + 1, true]),
  );
  return { json: `[${kept.map((row) => row.json).join(',')}]`, truncated };
}
