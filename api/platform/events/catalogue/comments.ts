import { stored } from '../declare.js';
import { Comment, Task, TASK } from './shapes.js';

export const commentEvents = {
  'comment.created': stored({
    payload: { comment: Comment, task: Task },
    trigger: 'Someone comments on a task',
    past: 'Someone commented on a task',
    webhook: true,
    sample: {
      comment: { comment_id: '0197a000-0000-7000-8000-000000000004', task_id: TASK.task_id, content: 'Seen again today' },
      task: TASK,
    },
  }),
};
