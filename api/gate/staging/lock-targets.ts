import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { derivedEdge } from '../../work/relations/rules.js';
import { isUuid } from '../../platform/ids.js';
import { lockCycles } from '../../work/cycles/read-cycle.js';
import { lockProjects } from '../../work/tasks/write/lock-projects.js';
import type { Fields } from '../work-actions/action.js';
import { nestedTask } from './read-before.js';
import { parseReference } from './references.js';
import type { StagedAction } from './staged-action.js';
import {
  cyclesOfTasksStatement,
  lockProjectsStatement,
  lockTasksStatement,
  projectsOfTasksStatement,
} from './lock-targets.sql.js';

interface Version extends Record<string, unknown> {
  id: string;
  version: number;
  in_trash: boolean;
}

/** What a lock needs to know of a staged action. */
type LockedAction = Pick<StagedAction, 'index' | 'tool' | 'entity_type' | 'entity_id'> & {
  params: Fields;
  expected_version: number | null;
};

/** An action whose target has changed since it was staged. */
export interface StaleAction {
  index: number;
  expected: number;
  found: number;
}

const isId = (id: string | null): id is string => id !== null && parseReference(id) === undefined;

/** Returns the task whose row holds a relation that an action makes or removes: a subtask holds the one to its parent. */
function nestedBy({ tool, entity_id, params }: LockedAction): string | null {
  if (tool === 'relation.create') return nestedTask(params) ?? null;
  return tool === 'relation.delete' && entity_id !== null ? (derivedEdge(entity_id)?.taskId ?? null) : null;
}

/** Whether an action changes the tree of a project, for which the operations lock the project before the task. */
const changesTree = (action: LockedAction): boolean => {
  const { tool, params } = action;
  return (
    tool === 'task.delete' ||
    tool === 'task.restore' ||
    (tool === 'task.update' && ('project_id' in params || 'parent_task_id' in params)) ||
    nestedBy(action) !== null
  );
};

/** Locks the projects whose trees the actions change, in the order in which the operations would: a lock taken later could deadlock. */
async function lockTrees(ctx: Context, actions: readonly LockedAction[]): Promise<void> {
  const changing = actions.filter(changesTree);
  const ids = changing.flatMap((action) => {
    const { entity_id, params } = action;
    return [entity_id, params['source_id'], params['target_id'], nestedBy(action)];
  });
  const tasks = ids.filter((id) => typeof id === 'string' && isId(id));
  if (tasks.length === 0) return;
  const rows = await run<{ project_id: string }>(ctx.db, projectsOfTasksStatement, [tasks]);
  const targets = changing.flatMap(({ params }) => (typeof params['project_id'] === 'string' ? [params['project_id']] : []));
  await lockProjects(ctx, [...rows.map(({ project_id }) => project_id), ...targets]);
}

/** Locks the cycles that tasks enter or leave, which the operations lock before the tasks. */
async function lockCyclesOf(ctx: Context, actions: readonly LockedAction[]): Promise<void> {
  const moving = actions.filter(({ tool }) => tool === 'task.set_cycle');
  const tasks = moving.flatMap(({ entity_id }) => (isId(entity_id) ? [entity_id] : []));
  if (tasks.length === 0) return;
  const left = await run<{ cycle_id: string }>(ctx.db, cyclesOfTasksStatement, [tasks]);
  const entered = moving.flatMap(({ params: { cycle_id } }) =>
    typeof cycle_id === 'string' && isUuid(cycle_id) ? [cycle_id] : [],
  );
  await lockCycles(ctx, [...new Set([...left.map(({ cycle_id }) => cycle_id), ...entered])]);
}

/**
 * Locks the targets of the chosen actions until the commit and compares their versions with those of the plan. A target in the trash is no
 * stale one: its action is refused with the reason (docs/decisions/gate.md#what-makes-a-plan-stale).
 * @returns the actions whose targets have changed
 */
export async function lockTargets(ctx: Context, actions: readonly LockedAction[]): Promise<StaleAction[]> {
  await lockTrees(ctx, actions);
  await lockCyclesOf(ctx, actions);
  const listIds = (type: string): string[] => [
    ...new Set(actions.flatMap(({ entity_type, entity_id }) => (entity_type === type && isId(entity_id) ? [entity_id] : []))),
  ];
  const nested = actions.map(nestedBy).filter(isId);
  const [tasks, projects] = [[...new Set([...listIds('task'), ...nested])], listIds('project')];
  const rows = [
    ...(projects.length > 0 ? await run<Version>(ctx.db, lockProjectsStatement, [projects]) : []),
    ...(tasks.length > 0 ? await run<Version>(ctx.db, lockTasksStatement, [tasks]) : []),
  ];
  const found = new Map(rows.map((row) => [row.id, row]));
  return actions.flatMap(({ index, tool, entity_id, expected_version: expected }) => {
    const row = entity_id === null ? undefined : found.get(entity_id);
    if (expected === null || !row || row.version === expected) return [];
    if (row.in_trash !== (tool === 'task.restore')) return [];
    return [{ index, expected, found: row.version }];
  });
}
