import { z } from 'zod';
import { trashTask as trash } from '../../work/tasks/write/trash-task.js';
import { defineAction, REQUESTED } from './action.js';
import { reverse } from './undo.js';

export const trashTask = defineAction({
  tool: 'task.delete',
  kind: 'remove',
  entity: 'task',
  schema: z.strictObject({}),
  offered: REQUESTED,
  words: { verb: 'Delete task', count: ['deletion', 'deletions'], proposal: 'Proposes to move a task to the trash.' },
  risk: ({ descendants }) => (descendants > 0 ? 'high' : 'medium'),
  undo: reverse('task.restore'),
  async perform(ctx, id) {
    await trash(ctx, id);
    return {};
  },
});
