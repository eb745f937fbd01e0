import type { PlanAction, PlanSource, Risk, Tool } from './schema.js';

type Fields = Readonly<Record<string, unknown>>;

const RANK: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** Returns the highest of some risks; `low` of none. */
const highestRisk = (risks: readonly Risk[]): Risk =>
  risks.reduce<Risk>((highest, risk) => (RANK[risk] > RANK[highest] ? risk : highest), 'low');

/** What the risk of an action depends on: the target's record before and after it, and facts around it. */
export interface Effect {
  tool: Tool;
  before: Fields | null;
  after: Fields | null;
  /** Id of the user for whom the plan is staged. */
  userId: string;
  /** Live descendants of the target. */
  descendants: number;
  /** Of these, the ones that are not done. */
  openDescendants: number;
  /** Members whom a comment mentions. */
  mentions: number;
}

const PRIORITIES = ['low', 'medium', 'high', 'urgent'];
/** Fields whose loss matters; a cleared parent is a move, which has its own line. */
const CLEARABLE = ['description', 'due_date', 'tags', 'estimated_hours', 'start_date', 'end_date'];

const isEmpty = (value: unknown): boolean => value == null || value === '' || (Array.isArray(value) && value.length === 0);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function differs(before: unknown, after: unknown): boolean {
  return JSON.stringify(before ?? null) !== JSON.stringify(after ?? null);
}

/** Whether an assignment is more than taking what no user has: it gives work to another user, or takes it from one. */
function assignmentMatters(from: unknown, to: unknown, userId: string): boolean {
  if (from != null) return from !== userId;
  return to != null && to !== userId;
}

function statusMatters({ before, after, openDescendants }: Effect): boolean {
  if (before?.['status'] === after?.['status']) return false;
  if (before?.['status'] === 'done') return true;
  return after?.['status'] === 'done' && (openDescendants > 0 || before?.['recurrence'] != null);
}

function riskOfTaskUpdate(effect: Effect): Risk {
  const before = effect.before ?? {};
  const after = effect.after ?? {};
  const changed = (field: string): boolean => differs(before[field], after[field]);
  if (changed('project_id')) return 'high';
  const isLower = PRIORITIES.indexOf(String(after['priority'])) < PRIORITIES.indexOf(String(before['priority']));
  const isEarlier = textOf(after['due_date']) < textOf(before['due_date']);
  const isCleared = CLEARABLE.some((field) => !isEmpty(before[field]) && isEmpty(after[field]));
  const isAssignment = changed('assigned_to') && assignmentMatters(before['assigned_to'], after['assigned_to'], effect.userId);
  const moves = changed('parent_task_id') || changed('recurrence') || changed('is_archived');
  return isLower || isEarlier || isCleared || isAssignment || moves || statusMatters(effect) ? 'medium' : 'low';
}

function riskOfTaskCreation({ after, userId }: Effect): Risk {
  return assignmentMatters(null, after?.['assigned_to'], userId) || after?.['recurrence'] != null ? 'medium' : 'low';
}

function riskOfProjectUpdate({ before, after }: Effect): Risk {
  return ['name', 'status'].some((field) => differs(before?.[field], after?.[field])) ? 'high' : 'medium';
}

const RISK: Readonly<Record<Tool, Risk | ((effect: Effect) => Risk)>> = {
  'task.create': riskOfTaskCreation,
  'task.update': riskOfTaskUpdate,
  'task.set_status': riskOfTaskUpdate,
  'task.assign': riskOfTaskUpdate,
  'task.comment': ({ mentions }) => (mentions > 0 ? 'medium' : 'low'),
  'task.delete': ({ descendants }) => (descendants > 0 ? 'high' : 'medium'),
  'project.update': riskOfProjectUpdate,
  'relation.create': 'low',
  'relation.delete': 'medium',
  'note.create': 'low',
  'task.restore': 'low',
  'comment.delete': 'medium',
  'note.delete': 'medium',
};

/** Returns the risk of one action by itself. */
export function riskOf(effect: Effect): Risk {
  const risk = RISK[effect.tool];
  return typeof risk === 'string' ? risk : risk(effect);
}

/** Deletions in one plan above which each is of high risk. */
const MANY_DELETIONS = 3;
/** Actions above which a plan is at least of medium risk. */
const MANY_ACTIONS = 20;

/** Raises the risk of deletions if a plan has many. */
export function withManyDeletions(actions: PlanAction[]): PlanAction[] {
  const deletions = actions.filter(({ tool }) => tool === 'task.delete').length;
  if (deletions <= MANY_DELETIONS) return actions;
  return actions.map((action) => (action.tool === 'task.delete' ? { ...action, risk: 'high' } : action));
}

/** Returns the risk of a whole plan. */
export const planRisk = (actions: readonly PlanAction[]): Risk =>
  highestRisk([...actions.map(({ risk }) => risk), ...(actions.length > MANY_ACTIONS ? (['medium'] as const) : [])]);

/** Whether the action completes a recurring task, so that its series goes on with the next one. */
export const startsNext = (before: Fields | null, after: Fields | null): boolean =>
  before?.['status'] !== 'done' && after?.['status'] === 'done' && before?.['recurrence'] != null;

/** Whether an undo can take the action back. Mentions have been read, and the next occurrence of a recurring task exists. */
export function isReversible({ tool, before, after, mentions }: Effect): boolean {
  if (tool === 'comment.delete' || tool === 'note.delete') return false;
  if (tool === 'task.comment') return mentions === 0;
  return !startsNext(before, after);
}

const WORDS: Readonly<Record<Tool, [one: string, many: string]>> = {
  'task.create': ['new task', 'new tasks'],
  'task.update': ['task update', 'task updates'],
  'task.set_status': ['status change', 'status changes'],
  'task.assign': ['assignment', 'assignments'],
  'task.comment': ['comment', 'comments'],
  'task.delete': ['deletion', 'deletions'],
  'project.update': ['project update', 'project updates'],
  'relation.create': ['new relation', 'new relations'],
  'relation.delete': ['removed relation', 'removed relations'],
  'note.create': ['new note', 'new notes'],
  'task.restore': ['restored task', 'restored tasks'],
  'comment.delete': ['deleted comment', 'deleted comments'],
  'note.delete': ['deleted note', 'deleted notes'],
};

/** Returns our own words for a plan: counts by tool, the highest risk first. No text of a user or of a model. */
export function summaryOf(actions: readonly Pick<PlanAction, 'tool' | 'risk'>[], isUndo: boolean): string {
  const groups = new Map<Tool, { count: number; rank: number }>();
  for (const { tool, risk } of actions) {
    const group = groups.get(tool) ?? { count: 0, rank: 0 };
    groups.set(tool, { count: group.count + 1, rank: Math.max(group.rank, RANK[risk]) });
  }
  const parts = [...groups]
    .sort(([, a], [, b]) => b.rank - a.rank)
    .map(([tool, { count }]) => `${count} ${WORDS[tool][count === 1 ? 0 : 1]}`);
  return `${isUndo ? 'Undo: ' : ''}${parts.join(', ')}`;
}

/** Tools that a rule without a model may propose; every other source may propose all that a proposal may name. */
const TOOLS_OF: Readonly<Partial<Record<PlanSource, readonly Tool[]>>> = {
  overnight_triage: ['task.update', 'task.comment'],
  ci_failure_triage: ['task.comment', 'task.set_status', 'task.create'],
};
const ONLY_UNDO: readonly Tool[] = ['task.restore', 'comment.delete', 'note.delete'];

/** Whether a proposal of this source may name the tool. */
export function mayPropose(source: PlanSource, tool: Tool, params: Fields, isUndo: boolean): boolean {
  if (isUndo) return true;
  if (ONLY_UNDO.includes(tool)) return false;
  if (TOOLS_OF[source]?.includes(tool) === false) return false;
  return source !== 'overnight_triage' || tool !== 'task.update' || Object.keys(params).every((field) => field === 'priority');
}

/** Reads `"$k"`, which names what action k creates; undefined for any other value. No id contains `$`. */
export function referenceOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\$(0|[1-9][0-9]{0,3})$/.test(value)) return undefined;
  return Number(value.slice(1));
}
