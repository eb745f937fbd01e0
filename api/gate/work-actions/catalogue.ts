import { addComment } from './add-comment.js';
import type { Effect, WorkAction } from './action.js';
import type { Risk } from '../contract/action-type.js';
import { assignTask } from './assign-task.js';
import { createNote } from './create-note.js';
import { createRelation } from './create-relation.js';
import { createTask } from './create-task.js';
import { deleteComment } from './delete-comment.js';
import { deleteRelation } from './delete-relation.js';
import { restoreTask } from './restore-task.js';
import { startsNext } from './risk.js';
import { setTaskCycle } from './set-task-cycle.js';
import { setTaskStatus } from './set-task-status.js';
import { trashNote } from './trash-note.js';
import { trashTask } from './trash-task.js';
import { updateProject } from './update-project.js';
import { updateTask } from './update-task.js';

/**
 * Every change that a machine may make to work items. Each is an ordinary operation with its own checks, and none of them touches members,
 * secrets, tokens, automations, settings or plans. Automations, plans, models and MCP derive their lists from this one.
 */
export const WORK_ACTIONS = [
  createTask,
  updateTask,
  setTaskStatus,
  assignTask,
  setTaskCycle,
  addComment,
  trashTask,
  updateProject,
  createNote,
  createRelation,
  deleteRelation,
  restoreTask,
  deleteComment,
  trashNote,
] as const;
export type Tool = (typeof WORK_ACTIONS)[number]['tool'];

/** Names of all actions. */
export const TOOLS = WORK_ACTIONS.map(({ tool }) => tool);

/** Names of those that some source may propose; the others only take an action back. */
export const PROPOSABLE = WORK_ACTIONS.filter(({ offered }) => offered.length > 0).map(({ tool }) => tool);

const byTool = new Map<string, WorkAction<Tool>>(WORK_ACTIONS.map((action) => [action.tool, action]));

/** Returns the action of a name; undefined if this build has none. */
export const findAction = (tool: string): WorkAction<Tool> | undefined => byTool.get(tool);

/** Returns the action of a name. */
export const getAction = (tool: Tool): WorkAction<Tool> => byTool.get(tool) as WorkAction<Tool>;

/** Returns the risk of one action by itself. */
export function getRisk(tool: Tool, effect: Effect): Risk {
  const { risk } = getAction(tool);
  return typeof risk === 'string' ? risk : risk(effect);
}

/** Whether an undo can take the action back: not the completion of a recurring task, whose next occurrence exists. */
export function isReversible(tool: Tool, effect: Effect): boolean {
  const { undo, isReversible: decides } = getAction(tool);
  return undo !== null && (decides ? decides(effect) : !startsNext(effect.before, effect.after));
}
