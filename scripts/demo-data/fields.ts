import type { Context } from '../../api/platform/context.js';
import { createField } from '../../api/work/custom-fields/create-field.js';
import { setValues } from '../../api/work/custom-fields/values/set-values.js';
import { createView } from '../../api/work/saved-views/create-view.js';

const SEVERITIES = ['critical', 'major', 'minor'];
/** Open tasks of the project that have values. */
const TASKS = 12;

/** A custom field with values on some tasks, and two views that the team shares: a list that sorts by the field, and a board. */
export async function createFieldsAndViews(ctx: Context, team_id: string, project_id: string): Promise<void> {
  const options = SEVERITIES.map((value, at) => ({ value, color: ['#b3261e', '#8a5300', '#675f54'][at] }));
  const severity = await createField(ctx, { team_id, name: 'Severity', field_type: 'select', entity_type: 'task', options });
  const tasks = await ctx
    .db('tasks')
    .where({ project_id })
    .whereNot({ status: 'done' })
    .orderBy('created_at')
    .limit(TASKS)
    .pluck<string[]>('task_id');
  const values = tasks.map((entity_id, at) => ({
    field_id: severity.field_id,
    entity_type: 'task' as const,
    entity_id,
    value: SEVERITIES[at % SEVERITIES.length] as string,
  }));
  if (values.length > 0) await setValues(ctx, values);
  const shared = { entity_type: 'task' as const, team_id, is_shared: true };
  await createView(ctx, {
    ...shared,
    name: 'Worst first',
    filters: { status: ['todo', 'in_progress', 'in_review'], custom_fields: { severity: ['critical', 'major'] } },
    sort: [
      { field: 'custom_field:severity', direction: 'asc' },
      { field: 'due_date', direction: 'asc' },
    ],
    columns: ['custom_field:severity'],
  });
  await createView(ctx, { ...shared, name: 'Apollo board', layout: 'board', filters: { project_id: [project_id] } });
}
