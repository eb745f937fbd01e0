import type { Context } from '../../../platform/context.js';
import { foldName } from '../../../platform/validation/given-name.js';
import { fromChoice, isStatusChoice } from '../../../work/tasks/rules.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import type { ImportPlace } from '../importers/record.js';
import type { ImportOptions } from '../request-import.js';

/** Returns a search for where the tasks of a foreign state go: what the request says of it, else the stage of the team with this name, in any case. */
export async function findPlacesByName(
  ctx: Context,
  teamId: string,
  states: ImportOptions['states'] = {},
): Promise<ImportPlace['getState']> {
  const stages = await findStages(ctx, [teamId]);
  const asked = new Map(Object.entries(states).map(([name, place]) => [foldName(name), place]));
  return (name) => {
    const place = asked.get(foldName(name));
    if (place !== undefined && isStatusChoice(place)) return fromChoice(place);
    const stage =
      stages.find(({ stage_id }) => stage_id === place) ?? stages.find((each) => foldName(each.name) === foldName(name));
    return stage && { stage_id: stage.stage_id, status: stage.status };
  };
}
