import { z } from 'zod';
import { restoreTask as restore } from '../../work/tasks/write/restore-task.js';
import { defineAction } from './action.js';
import { reverse } from './undo.js';

export const restoreTask = defineAction({
  tool: 'task.restore',
  kind: 'restore',
  entity: 'task',
  schema: z.strictObject({}),
  offered: [],
  words: { verb: 'Restore task', count: ['restored task', 'restored tasks'] },
  risk: 'low',
  undo: reverse('task.delete'),
  async perform(ctx, id) {
    await restore(ctx, id);
    return {};
  },
});
