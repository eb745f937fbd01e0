import { setValues } from '../../work/custom-fields/values/set-values.js';
import { UpdateTask } from '../../work/tasks/schema.js';
import { updateTask as update } from '../../work/tasks/write/update-task.js';
import { defineAction, PLAN_SOURCES } from './action.js';
import { FieldValues, resolveOwnNames, StageName } from './own-names.js';
import { riskOfTaskUpdate } from './risk.js';
import { restoreFields } from './undo.js';

export const updateTask = defineAction({
  tool: 'task.update',
  kind: 'update',
  entity: 'task',
  schema: UpdateTask.omit({ version: true }).extend({ stage_id: StageName, custom_fields: FieldValues.optional() }).strict(),
  references: ['project_id', 'parent_task_id'],
  offered: PLAN_SOURCES.filter((source) => source !== 'ci_failure_triage'),
  words: {
    verb: 'Change task',
    count: ['task update', 'task updates'],
    proposal: 'Proposes to change fields of a task. Give only the fields that change.',
  },
  risk: riskOfTaskUpdate,
  undo: restoreFields('task.update'),
  automation: { type: 'update_task', label: 'Change fields of a task', defaulted: ['task_id'], clears: true },
  resolve: resolveOwnNames,
  async perform(ctx, task_id, params) {
    const { custom_fields, ...fields } = { ...params, ...(await resolveOwnNames(ctx, task_id, params)) };
    const version = await update(ctx, task_id, fields);
    const values = Object.entries(custom_fields ?? {}).map(([field_id, value]) => ({
      field_id,
      entity_type: 'task' as const,
      entity_id: task_id,
      value,
    }));
    if (values.length > 0) await setValues(ctx, values);
    return { output: { task_id, version } };
  },
});
