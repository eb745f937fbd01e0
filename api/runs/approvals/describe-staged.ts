import { availableActions } from '../../actions/registry.js';
import type { Plan } from '../planned-actions.js';

/** Actions that an email names; the run's page shows all. */
const MAX_NAMED = 5;

/** Returns what approving a gate starts, for an email: in whose name, then a line for each action with its target and its words. */
export function describeStaged({ actions }: Plan, actor: string | undefined): string[] {
  if (actions.length === 0) return [];
  const lines = actions.slice(0, MAX_NAMED).map(({ type, name, facts }, index) => {
    const label = availableActions().find((action) => action.type === type)?.label ?? type;
    const title = name === null ? label : `${name} (${label})`;
    return `${index + 1}. ${[title, ...facts.map((fact) => `${fact.name}: ${fact.value}`)].join(' · ')}`;
  });
  const more = actions.length - lines.length;
  const who = actor ?? 'the automation’s creator';
  return [`Runs if approved, in the name of ${who}:`, ...lines, ...(more > 0 ? [`And ${more} more.`] : [])];
}
