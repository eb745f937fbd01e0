import { run, type Statement } from '../../../db/statement.js';
import { authorize, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { forbidden, invalid, notFound } from '../../core/errors.js';
import { lockProjects } from './lock-projects.js';
import { MAX_SUBTASK_DEPTH } from '../rules.js';
import { staleVersion } from './stale-version.js';

/** Where a change wants a task to be; what is absent stays. */
interface TaskMove {
  project_id: string | undefined;
  parent_task_id: string | null | undefined;
}

/** Where a task is, or is to be. */
interface TaskLocation {
  project_id: string;
  parent_task_id: string | null;
}

interface TargetState extends TaskLocation {
  team_id: string;
  version: number;
  seat: Seat | null;
}

const targetStateStatement: Statement = {
  name: 'standing_of_task',
  text: /* sql */ `
    select t.team_id, t.project_id, t.parent_task_id, t.version, m.role as seat
    from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = $2
    where t.task_id = $1 and t.deleted_at is null`,
};

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT stale version, before anything else is judged (C3) */
async function targetStateOf(ctx: Context, taskId: string, version: number | null): Promise<TargetState> {
  const [task] = await run<TargetState & Record<string, unknown>>(ctx.db, targetStateStatement, [taskId, userOf(ctx)]);
  if (!task) throw notFound('Task');
  authorize('task.write', task.seat);
  if (version !== null && version !== task.version) throw await staleVersion(ctx, taskId, version, task.version);
  return task;
}

/** What the wish comes to: a parent that is not named stays behind when the project changes (C3). */
function placeOf(task: TaskLocation, { project_id = task.project_id, parent_task_id }: TaskMove): TaskLocation {
  if (parent_task_id !== undefined) return { project_id, parent_task_id };
  return { project_id, parent_task_id: project_id === task.project_id ? task.parent_task_id : null };
}

const projectStatement: Statement = {
  name: 'project_to_move_to',
  text: /* sql */ `
    select p.team_id, m.role as seat from projects p left join memberships m on m.team_id = p.team_id and m.user_id = $2
    where p.project_id = $1 and p.deleted_at is null`,
};

/** @throws RESOURCE_NOT_FOUND unknown | PERMISSION_DENIED not the caller's to read | INVALID_REQUEST of another team */
async function checkProject(ctx: Context, teamId: string, projectId: string): Promise<void> {
  const [project] = await run<{ team_id: string; seat: Seat | null }>(ctx.db, projectStatement, [projectId, userOf(ctx)]);
  if (!project) throw notFound('Project');
  if (project.seat === null) throw forbidden('You are not a member of this team');
  if (project.team_id !== teamId) throw invalid('A task moves between projects of its own team only');
}

/** $1 task, $2 the parent it wants, $3 project, $4 deepest nesting. What lies in the trash below the task counts: it may come back. */
const parentStatement: Statement = {
  name: 'parent_to_move_below',
  text: /* sql */ `
    with recursive up as (
      select t.task_id, t.parent_task_id, 1 as level from tasks t where t.task_id = $2
      union all
      select t.task_id, t.parent_task_id, up.level + 1 from up join tasks t on t.task_id = up.parent_task_id where up.level <= $4::int
    ), down as (
      select $1::text as task_id, 1 as level
      union all
      select t.task_id, down.level + 1 from down join tasks t on t.parent_task_id = down.task_id where down.level <= $4::int
    )
    select (select t.project_id = $3 from tasks t where t.task_id = $2 and t.deleted_at is null) as here,
      exists (select from up where task_id = $1) as circular,
      (select max(level) from up) + (select max(level) from down) as depth`,
};

/** @throws RESOURCE_NOT_FOUND unknown or in the trash | INVALID_REQUEST of another project, the task itself or one below it, too deep (C5) */
async function checkParent(ctx: Context, taskId: string, { project_id, parent_task_id }: TaskLocation): Promise<void> {
  const [parent] = await run<{ here: boolean | null; circular: boolean; depth: number }>(ctx.db, parentStatement, [
    taskId,
    parent_task_id,
    project_id,
    MAX_SUBTASK_DEPTH,
  ]);
  if (!parent || parent.here === null) throw notFound('Parent task');
  if (!parent.here) throw invalid('parent_task_id must be a task of the same project');
  if (parent.circular) throw invalid('A task cannot be below itself');
  if (parent.depth > MAX_SUBTASK_DEPTH) throw invalid(`Subtasks nest at most ${MAX_SUBTASK_DEPTH} deep`);
}

/** Tasks before seats, as everybody locks them: whoever takes a leaver's tasks away holds tasks and waits for the seat. */
const lockSubtreeStatement: Statement = {
  name: 'lock_subtree',
  text: /* sql */ `
    with recursive tree as (
      select $1::text as task_id
      union all
      select c.task_id from tree join tasks c on c.parent_task_id = tree.task_id
    )
    select t.task_id from tasks t join tree using (task_id) order by t.task_id for no key update of t`,
};

/**
 * Judges where a change wants a task to be. When that is somewhere else, the projects concerned stay locked until the commit, by
 * a statement of its own, so that what is read after it still holds when it is written: two tasks cannot slip below each other.
 * Returns the fields that are to be written; none when the task is there already.
 * @throws RESOURCE_NOT_FOUND task, project, parent | PERMISSION_DENIED | RESOURCE_CONFLICT stale version | INVALID_REQUEST project, parent
 * Source: decisions C3 and C5; durability notes, 3.4.
 */
export async function lockMoveTarget(
  ctx: Context,
  taskId: string,
  wish: TaskMove,
  version: number | null,
): Promise<Partial<TaskLocation>> {
  let locked = new Set<string>();
  for (;;) {
    const task = await targetStateOf(ctx, taskId, version);
    const place = placeOf(task, wish);
    const moves = place.project_id !== task.project_id;
    if (!moves && place.parent_task_id === task.parent_task_id) return {};
    if (locked.has(task.project_id) && locked.has(place.project_id)) {
      if (place.parent_task_id !== null) await checkParent(ctx, taskId, place);
      if (!moves) return { parent_task_id: place.parent_task_id };
      await run(ctx.db, lockSubtreeStatement, [taskId]);
      return place;
    }
    if (moves) await checkProject(ctx, task.team_id, place.project_id);
    locked = await lockProjects(ctx, [task.project_id, place.project_id]);
  }
}
