import type { CreateAutomation } from '../../automation/definitions/schema.js';
import type { CreateTask } from '../../work/tasks/schema.js';

/** Name of the example project, and of its automation. */
export const PROJECT = 'Example: a newsletter';
const AUTOMATION = 'Prepare to send';
const WRITE = 'Write the newsletter';
const SEND = 'Send the newsletter';

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** What the id of the task whose completion starts the automation adds to that of the project. */
export const WRITING = '-write';
/** Returns the id of the task whose completion starts the automation. */
const writingTask = (projectId: string): string => `${projectId}${WRITING}`;
const sendingTask = (projectId: string): string => `${projectId}-send`;

/** Returns the tasks of an example project; the first is assigned to the user who asked for it. */
export const exampleTasks = (project_id: string, userId: string): CreateTask[] => [
  {
    project_id,
    task_id: writingTask(project_id),
    title: WRITE,
    description: `When you finish this task, the automation “${AUTOMATION}” asks whether it may change “${SEND}”.`,
    status: 'in_progress',
    priority: 'high',
    due_date: inDays(1),
    assigned_to: userId,
  },
  { project_id, task_id: sendingTask(project_id), title: SEND, status: 'todo', priority: 'medium', due_date: inDays(3) },
  { project_id, title: 'Put it on the website', status: 'todo', priority: 'low', due_date: inDays(5) },
  { project_id, title: 'Collect topics for the next one', status: 'todo', priority: 'low' },
  { project_id, title: 'Ask two readers for comments', status: 'done', priority: 'medium' },
];

/**
 * Returns the automation of an example project, disabled. Its gate names the lowest role that can fill a team, and lets the users behind the run
 * decide, as every gate does that does not say otherwise: the user who tries it may be alone in the team.
 */
export const exampleAutomation = (project_id: string): CreateAutomation => ({
  name: AUTOMATION,
  description: `When “${WRITE}” is done, a member says whether “${SEND}” comes next.`,
  project_id,
  trigger_type: 'task.completed',
  condition: `event.task.task_id == "${writingTask(project_id)}"`,
  is_active: false,
  actions: [
    {
      type: 'require_approval',
      name: 'Before anything changes',
      params: { role: 'member', message: `“{{event.task.title}}” is done. Go on with “${SEND}”?`, allow_self_approval: true },
    },
    {
      type: 'update_task',
      name: 'Begin',
      params: { task_id: sendingTask(project_id), status: 'in_progress', priority: 'high' },
    },
    {
      type: 'add_comment',
      name: 'Say why',
      params: { task_id: sendingTask(project_id), content: 'The text is ready. Please send it.' },
    },
  ],
});
