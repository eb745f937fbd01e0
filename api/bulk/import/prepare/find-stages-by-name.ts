import type { Context } from '../../../platform/context.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import type { Stage } from '../../../work/tasks/stages/places.js';

/** Returns a search for the stages of a team by their names, in any case. */
export async function findStagesByName(ctx: Context, teamId: string): Promise<(name: string) => Stage | undefined> {
  const byName = new Map((await findStages(ctx, [teamId])).map((stage) => [stage.name.toLowerCase(), stage]));
  return (name) => byName.get(name.trim().toLowerCase());
}
