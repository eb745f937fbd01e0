import { getAction, type Tool } from '../../gate/work-actions/catalogue.js';
import { RANK } from './rules.js';
import type { PlanAction } from './schema.js';

/** Returns our own words for a plan: counts by tool, the highest risk first. No text of a user or of a model. */
export function buildSummary(actions: readonly Pick<PlanAction, 'tool' | 'risk'>[], isUndo: boolean): string {
  const groups = new Map<Tool, { count: number; rank: number }>();
  for (const { tool, risk } of actions) {
    const group = groups.get(tool) ?? { count: 0, rank: 0 };
    groups.set(tool, { count: group.count + 1, rank: Math.max(group.rank, RANK[risk]) });
  }
  const parts = [...groups]
    .sort(([, a], [, b]) => b.rank - a.rank)
    .map(([tool, { count }]) => `${count} ${getAction(tool).words.count[count === 1 ? 0 : 1]}`);
  return `${isUndo ? 'Undo: ' : ''}${parts.join(', ')}`;
}
