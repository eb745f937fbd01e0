import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { createTask } from '../tasks/create-task.js';
import type { CreateTask } from '../tasks/schema.js';
import { shiftDue } from './next-date.js';
import type { Recurrence } from './rules.js';
import type { Occurrence, Series } from './series.js';

/** What only a series may say of a task it creates; `createTask` passes it on to its statement. */
interface NewOccurrence extends CreateTask {
  position: number | null;
  series_id?: string;
  occurrence_index?: number;
  recurrence_of?: string;
}

interface Copied extends Occurrence {
  /** False for the assignee of yore who left the team. */
  assignee_stays: boolean;
}

/**
 * $1 task: the task and its live subtasks, parents first. Of a subtask that recurs on its own only the earliest occurrence is
 * taken, as one plain task. A parent that is gone or elsewhere is let go of.
 */
const treeStatement: Statement = {
  name: 'occurrence_tree',
  text: /* sql */ `
    with recursive tree as (
      select t, 0 as level from tasks t where t.task_id = $1
      union all
      select c, tree.level + 1 from tree join tasks c on c.parent_task_id = (tree.t).task_id and c.deleted_at is null
      where not exists (select from tasks e where e.series_id = c.series_id and e.occurrence_index < c.occurrence_index
        and e.parent_task_id = c.parent_task_id and e.deleted_at is null)
    )
    select (t).task_id, (t).project_id, (t).title, (t).description, (t).assigned_to, (t).priority, (t).due_date, (t).tags,
      (t).estimated_hours, (t).position, (t).recurrence, (t).deleted_at, p.task_id as parent_task_id, m.user_id is not null as assignee_stays
    from tree left join memberships m on m.team_id = (t).team_id and m.user_id = (t).assigned_to
    left join tasks p on p.task_id = (t).parent_task_id and p.project_id = (t).project_id and p.deleted_at is null
    order by level, (t).position nulls last, (t).created_at, (t).task_id`,
};

/** The fields that pass from one occurrence to the next (C7). */
const carriedOver = (task: Copied, due_date: string | null, parent_task_id: string | null): NewOccurrence => ({
  title: task.title,
  project_id: task.project_id,
  description: task.description,
  assigned_to: task.assignee_stays ? task.assigned_to : null,
  priority: task.priority,
  due_date,
  tags: task.tags,
  estimated_hours: task.estimated_hours,
  position: task.position,
  parent_task_id,
});

/**
 * Creates the next occurrence with open copies of the subtasks, whose due dates move as far as the task's. Through the same verb
 * as everybody's tasks: with its rules, its audit entry, its line of activity and its event each. Returns the new task's id.
 * @throws what `createTask` refuses with
 */
export async function makeOccurrence(ctx: Context, series: Series, due: string): Promise<string> {
  const [old, ...subtasks] = await run<Copied>(ctx.db, treeStatement, [series.last_task_id]);
  if (!old) throw new Error(`Series ${series.series_id} has lost its task`);
  const recurrence: Recurrence = series.recurrence;
  const successor: NewOccurrence = {
    ...carriedOver(old, due, old.parent_task_id),
    recurrence,
    series_id: series.series_id,
    occurrence_index: series.last_index + 1,
    recurrence_of: old.task_id,
  };
  const { taskId } = await createTask(ctx, successor);
  const copies = new Map([[old.task_id, taskId]]);
  for (const subtask of subtasks) {
    const parent = copies.get(subtask.parent_task_id as string);
    if (parent === undefined) continue;
    const moved = shiftDue(subtask.due_date, old.due_date, due, recurrence.timezone);
    copies.set(subtask.task_id, (await createTask(ctx, carriedOver(subtask, moved, parent))).taskId);
  }
  return taskId;
}
