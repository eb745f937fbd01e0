import { defineStatement, run } from '../../../../../db/statement.js';
import { type Context, callerJson } from '../../../../platform/context.js';
import { recordChange } from '../../../../platform/changes/record-change.js';
import { createTask } from '../../write/create-task.js';
import type { NewTask } from '../../write/write-new-tasks.js';
import { COPIED_COLUMNS, copyColumns } from '../../columns.js';
import { shiftDue } from '../next-date.js';
import { copyStatement, treeStatement } from '../occurrence-tree.sql.js';
import { MAX_TREE } from '../rules.js';
import type { CopiedFields, Series } from './series.js';

interface CopiedTask extends CopiedFields {
  /** False if the assignee left the team. */
  assignee_stays: boolean;
}

/** $1 = task id of the newest occurrence. Drops a parent that is deleted or in another project. */
const occurrenceStatement = defineStatement({
  name: 'occurrence_to_copy',
  text: /* sql */ `
    select ${COPIED_COLUMNS.map((name) => `t.${name}`).join(', ')}, t.task_id, t.project_id, t.team_id, t.assigned_to, t.due_date,
      p.task_id as parent_task_id, m.user_id is not null as assignee_stays
    from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = t.assigned_to
    left join tasks p on p.task_id = t.parent_task_id and p.project_id = t.project_id and p.deleted_at is null
    where t.task_id = $1`,
});

/** Returns the fields of the next occurrence. */
const buildSuccessor = (task: CopiedTask, series: Series, due_date: string): NewTask => ({
  ...copyColumns(task),
  project_id: task.project_id,
  assigned_to: task.assignee_stays ? task.assigned_to : null,
  due_date,
  parent_task_id: task.parent_task_id,
  recurrence: series.recurrence,
  series_id: series.series_id,
  occurrence_index: series.last_index + 1,
  recurrence_of: task.task_id,
});

/** Records on the new occurrence that the tree was truncated. */
const recordCut = (ctx: Context, { team_id, project_id, title }: CopiedTask, taskId: string): Promise<string> =>
  recordChange(ctx, {
    team_id: team_id as string,
    project_id,
    feature: 'tasks',
    action: 'create',
    entity_type: 'task',
    entity_id: taskId,
    title,
    summary: `copied the first ${MAX_TREE.toLocaleString('en')} tasks of a larger recurring task; the others were left out`,
    details: { title, copied: MAX_TREE },
  });

/**
 * Creates the next occurrence with open copies of the subtasks, whose due dates shift with the task's. `createTask` creates the
 * task, then one statement all subtasks, each with audit entry, activity line and event. Copies the first tasks of an oversized
 * tree, level by level. Returns the new task's id.
 * @throws the errors of `createTask`
 */
export async function createOccurrence(ctx: Context, series: Series, due: string): Promise<string> {
  const [old] = await run<CopiedTask>(ctx.db, occurrenceStatement, [series.last_task_id]);
  if (!old) throw new Error(`Series ${series.series_id} has lost its task`);
  const tree = await run<Pick<CopiedFields, 'task_id' | 'due_date'>>(ctx.db, treeStatement, [old.task_id]);
  const { taskId } = await createTask(ctx, buildSuccessor(old, series, due));
  const subtasks = tree.slice(1, MAX_TREE);
  if (subtasks.length > 0) {
    const ids = subtasks.map(({ task_id }) => task_id);
    const dates = subtasks.map((subtask) => shiftDue(subtask.due_date, old.due_date, due, series.recurrence.timezone));
    await run(ctx.db, copyStatement, [JSON.stringify(callerJson(ctx)), ids, dates, old.task_id, taskId]);
  }
  if (tree.length > MAX_TREE) await recordCut(ctx, old, taskId);
  return taskId;
}
