import { UpdateProject } from '../../work/projects/schema.js';
import { updateProject as update } from '../../work/projects/update-project.js';
import { defineAction, REQUESTED } from './action.js';
import { differs } from './risk.js';
import { restoreFields } from './undo.js';

export const updateProject = defineAction({
  tool: 'project.update',
  kind: 'update',
  entity: 'project',
  schema: UpdateProject.omit({ team_id: true }).strict(),
  offered: REQUESTED,
  words: {
    verb: 'Change project',
    count: ['project update', 'project updates'],
    proposal: 'Proposes to change fields of a project. Give only the fields that change.',
  },
  risk: ({ before, after }) => (['name', 'status'].some((field) => differs(before?.[field], after?.[field])) ? 'high' : 'medium'),
  undo: restoreFields('project.update'),
  async perform(ctx, id, params) {
    await update(ctx, id, params);
    return {};
  },
});
