import type { TaskPriority } from '../../work/tasks/rules.js';
import type { ProposedAction } from '../../agent/plans/proposal.js';

/** Days without a change or a comment after which a task is asked about; also the rest after an answer. */
export const QUIET_DAYS = 14;
/** Comment on a task that nobody has touched. The words are ours, never a model's. */
const STALE_COMMENT = `No change for ${QUIET_DAYS} days. Is this still planned? Update the task, archive it, or say what it waits for.`;

const RAISED: Readonly<Record<TaskPriority, TaskPriority>> = {
  none: 'medium',
  low: 'medium',
  medium: 'high',
  high: 'urgent',
  urgent: 'urgent',
};

/** A task that the night selects. */
export interface SelectedTask {
  task_id: string;
  priority: TaskPriority;
  /** Overdue, and its priority can still be raised. */
  overdue: boolean;
}

/** Returns what the night proposes for a task: one step more priority if it is overdue, else a question. */
export const proposalFor = ({ task_id, priority, overdue }: SelectedTask): ProposedAction =>
  overdue
    ? { tool: 'task.update', entity_id: task_id, params: { priority: RAISED[priority] } }
    : { tool: 'task.comment', entity_id: task_id, params: { content: STALE_COMMENT } };
