import type { Recurrence } from '../recurrence/rules.js';
import type { TaskPriority, TaskResolution, TaskStatus } from '../rules.js';

/** What a row of a list shows of a task; whole tasks have it too. */
export interface TaskRow {
  task_id: string;
  team_id: string;
  project_id: string;
  number: number | null;
  title: string;
  status: TaskStatus;
  resolution: TaskResolution | null;
  stage_id: string | null;
  priority: TaskPriority;
  /** A date, or a date-time in UTC. */
  due_date: string | null;
  assigned_to: string | null;
  tags: string[];
  parent_task_id: string | null;
  recurrence: Recurrence | null;
  estimate: number | null;
  version: number;
}

/** The columns of a `TaskRow`, of a task `t`. */
export const ROW_COLUMNS =
  't.task_id, t.team_id, t.project_id, t.number, t.title, t.status, t.resolution, t.stage_id, t.priority, t.due_date, t.assigned_to, t.tags, t.parent_task_id, t.recurrence, t.estimate, t.version';
