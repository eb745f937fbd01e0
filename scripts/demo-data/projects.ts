import type { Context } from '../../api/platform/context.js';
import { createProject } from '../../api/work/projects/create-project.js';
import { postUpdate } from '../../api/work/projects/updates/post-update.js';

export const DEMO_PROJECT = 'Apollo';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Creates two projects of a team, each with its lead, its dates and an update that says how it goes. Returns their ids. */
export async function createProjects(
  ctx: Context,
  team_id: string,
  leads: Record<'apollo' | 'hermes', string>,
): Promise<{ apollo: string; hermes: string }> {
  const create = async (name: string, description: string, lead_id: string, days: number): Promise<string> => {
    const dates = { start_date: inDays(-21), end_date: inDays(days) };
    return (await createProject(ctx, { name, description, team_id, lead_id, ...dates })).data.project_id;
  };
  const apollo = await create(DEMO_PROJECT, 'The guidance computer', leads.apollo, 24);
  const hermes = await create('Hermes', 'Telling the world', leads.hermes, 38);
  await postUpdate(ctx, apollo, {
    health: 'at_risk',
    content: 'The release waits for the second opinion of the redundant computer. **Range safety** reviews it this week.',
  });
  await postUpdate(ctx, hermes, { health: 'on_track', content: 'The press kit is in review, the pages are next.' });
  return { apollo, hermes };
}
