import { Stage } from '../../../../db/models/stage.js';
import type { Context } from '../../../platform/context.js';

/** Returns a search for the stages of a team by their names, in any case. */
export async function findStagesByName(
  { db }: Pick<Context, 'db'>,
  teamId: string,
): Promise<(name: string) => Stage | undefined> {
  const stages = await Stage.query(db).where({ team_id: teamId });
  const byName = new Map(stages.map((stage) => [stage.name.toLowerCase(), stage]));
  return (name) => byName.get(name.trim().toLowerCase());
}
