import { availableActions } from '../../actions/registry.js';
import type { Context } from '../../core/context.js';
import { namesFor, planAction } from '../planned-actions.js';

interface Staged {
  team_id: string | null;
  creator_id: string;
  event: Record<string, unknown>;
  /** Actions of the version that the run follows. */
  actions: readonly Record<string, unknown>[];
}

/** Actions that an email names; the run's page shows all. */
const MAX_NAMED = 5;

/** Returns what approving a gate starts, for an email: in whose name, then a line for each action with its target and its words. */
export async function describeStaged(ctx: Context, run: Staged, gateIndex: number): Promise<string[]> {
  const { team_id: teamId, creator_id, event } = run;
  const staged = run.actions.slice(gateIndex + 1).map((action) => {
    const { type, name, params } = action as { type: string; name?: string; params?: Record<string, unknown> };
    return { type, name: name ?? null, params: params ?? {} };
  });
  if (staged.length === 0) return [];
  const shown = staged.slice(0, MAX_NAMED);
  const names = await namesFor(ctx, [
    { teamId, params: { assigned_to: creator_id } },
    ...shown.map(({ params }) => ({ teamId, params })),
  ]);
  const lines = shown.map((action, index) => {
    const { name, facts } = planAction(action, event, { teamId, names });
    const label = availableActions().find(({ type }) => type === action.type)?.label ?? action.type;
    const title = name === null ? label : `${name} (${label})`;
    return `${index + 1}. ${[title, ...facts.map((fact) => `${fact.name}: ${fact.value}`)].join(' · ')}`;
  });
  const more = staged.length - shown.length;
  const who = names(teamId, creator_id) ?? 'the automation’s creator';
  return [`Runs if approved, in the name of ${who}:`, ...lines, ...(more > 0 ? [`And ${more} more.`] : [])];
}
