import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { forbidden, invalid, notFound } from '../../../platform/errors.js';
import { preventCircularRelation } from '../../graph/prevent-circular-relation.js';
import { parentToMoveBelowStatement } from './lock-move-target.sql.js';
import { lockProjects } from './lock-projects.js';
import { MAX_SUBTASK_DEPTH } from '../rules.js';
import { staleVersion } from './stale-version.js';

/** Message of the error for a parent that is the task itself or below it. */
export const OWN_DESCENDANT = 'A task cannot be its own descendant';

/** A requested move; absent fields stay. */
interface TaskMove {
  project_id: string | undefined;
  parent_task_id: string | null | undefined;
}

/** Project and parent of a task. */
interface TaskLocation {
  project_id: string;
  parent_task_id: string | null;
}

interface TargetState extends TaskLocation {
  team_id: string;
  version: number;
  seat: Seat | null;
}

const targetStateStatement = defineStatement({
  name: 'standing_of_task',
  text: /* sql */ `
    select t.team_id, t.project_id, t.parent_task_id, t.version, m.role as seat
    from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = $2
    where t.task_id = $1 and t.deleted_at is null`,
});

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT stale version, checked before everything else */
async function findTargetState(ctx: Context, taskId: string, version: number | null): Promise<TargetState> {
  const [task] = await run<TargetState & Record<string, unknown>>(ctx.db, targetStateStatement, [taskId, requireUser(ctx)]);
  if (!task) throw notFound('Task');
  authorize('task.write', task.seat);
  if (version !== null && version !== task.version) {
    throw await staleVersion(ctx, { type: 'task', id: taskId, expected: version, version: task.version });
  }
  return task;
}

/** Resolves the target location: without an explicit parent, a change of project clears the parent. */
function resolveTarget(task: TaskLocation, { project_id = task.project_id, parent_task_id }: TaskMove): TaskLocation {
  if (parent_task_id !== undefined) return { project_id, parent_task_id };
  return { project_id, parent_task_id: project_id === task.project_id ? task.parent_task_id : null };
}

const projectStatement = defineStatement({
  name: 'project_to_move_to',
  text: /* sql */ `
    select p.team_id, m.role as seat from projects p left join memberships m on m.team_id = p.team_id and m.user_id = $2
    where p.project_id = $1 and p.deleted_at is null`,
});

/** @throws RESOURCE_NOT_FOUND unknown | PERMISSION_DENIED not readable by the caller | INVALID_REQUEST of another team */
async function checkProject(ctx: Context, teamId: string, projectId: string): Promise<void> {
  const [project] = await run<{ team_id: string; seat: Seat | null }>(ctx.db, projectStatement, [projectId, requireUser(ctx)]);
  if (!project) throw notFound('Project');
  if (project.seat === null) throw forbidden('You are not a member of this team');
  if (project.team_id !== teamId) throw invalid('A task can only move between projects of its team');
}

/**
 * @throws RESOURCE_NOT_FOUND unknown or in the trash | INVALID_REQUEST of another project, the task itself or a descendant, too
 * deep
 */
async function checkParent(ctx: Context, taskId: string, { project_id, parent_task_id }: TaskLocation): Promise<void> {
  const [parent] = await run<{ here: boolean | null; circular: boolean; depth: number }>(ctx.db, parentToMoveBelowStatement, [
    taskId,
    parent_task_id,
    project_id,
    MAX_SUBTASK_DEPTH,
  ]);
  if (!parent || parent.here === null) throw notFound('Parent task');
  if (!parent.here) throw invalid('parent_task_id must be a task of the same project');
  if (parent.circular) throw invalid(OWN_DESCENDANT);
  if (parent.depth > MAX_SUBTASK_DEPTH) throw invalid(`Subtasks can be nested at most ${MAX_SUBTASK_DEPTH} deep`);
}

/**
 * Checks a new parent in its project, then in the work graph, where a stored relation may lead from the task back to the parent.
 * @throws the errors of `checkParent` | RESOURCE_CONFLICT a cycle in the work graph
 */
async function checkNesting(ctx: Context, teamId: string, taskId: string, parentId: string, target: TaskLocation): Promise<void> {
  await checkParent(ctx, taskId, target);
  const teams = { from_team_id: teamId, to_team_id: teamId };
  await preventCircularRelation(ctx, { kind: 'contains', from_id: parentId, to_id: taskId, ...teams });
}

/** Lock order: tasks, then memberships. Removing a member locks the member's tasks and then waits for the membership. */
const lockSubtreeStatement = defineStatement({
  name: 'lock_subtree',
  text: /* sql */ `
    with recursive tree as (
      select $1::text as task_id
      union all
      select c.task_id from tree join tasks c on c.parent_task_id = tree.task_id
    )
    select t.task_id from tasks t join tree using (task_id) order by t.task_id for no key update of t`,
});

/**
 * Validates a move and returns the fields to write; none if the task is there already. For a real move, locks both projects until
 * the commit, in a separate statement, so that later reads stay valid: two tasks cannot become each other's descendants.
 * @throws RESOURCE_NOT_FOUND task, project, parent | PERMISSION_DENIED | RESOURCE_CONFLICT stale version | INVALID_REQUEST
 * project, parent
 */
export async function lockMoveTarget(
  ctx: Context,
  taskId: string,
  move: TaskMove,
  version: number | null,
): Promise<Partial<TaskLocation>> {
  let locked = new Set<string>();
  for (;;) {
    const task = await findTargetState(ctx, taskId, version);
    const target = resolveTarget(task, move);
    const moves = target.project_id !== task.project_id;
    if (!moves && target.parent_task_id === task.parent_task_id) return {};
    if (locked.has(task.project_id) && locked.has(target.project_id)) {
      if (target.parent_task_id !== null) await checkNesting(ctx, task.team_id, taskId, target.parent_task_id, target);
      if (!moves) return { parent_task_id: target.parent_task_id };
      await run(ctx.db, lockSubtreeStatement, [taskId]);
      return target;
    }
    if (moves) await checkProject(ctx, task.team_id, target.project_id);
    locked = await lockProjects(ctx, [task.project_id, target.project_id]);
  }
}
