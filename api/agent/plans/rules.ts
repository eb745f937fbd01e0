import type { PlanAction } from './schema.js';
import type { Risk } from '../../gate/contract/action-type.js';

/** Risks in order. */
export const RANK: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** Returns the highest of some risks; `low` of none. */
const highestRisk = (risks: readonly Risk[]): Risk =>
  risks.reduce<Risk>((highest, risk) => (RANK[risk] > RANK[highest] ? risk : highest), 'low');

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
