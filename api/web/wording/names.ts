import type { User } from '../../identity/auth/schema.js';
import type { Context } from '../../platform/context.js';
import { listMembers } from '../../identity/teams/list-members.js';

/** Returns the names of the user's teams by id. */
export const mapTeamNames = ({ teams }: User): Record<string, string> =>
  Object.fromEntries(teams.map(({ team_id, name }) => [team_id, name]));

/** Returns user names by id, for the user's teams that occur in the list. Former members are omitted. */
export async function namesIn(
  ctx: Context,
  me: User,
  things: readonly { team_id: string | null }[],
): Promise<Record<string, string>> {
  const own = new Set(me.teams.map(({ team_id }) => team_id));
  const teams = [...new Set(things.map(({ team_id }) => team_id))].filter((id): id is string => id !== null && own.has(id));
  const members = await Promise.all(teams.map((teamId) => listMembers(ctx, teamId)));
  const known = members.flat().map(({ user_id, display_name }) => [user_id, display_name] as const);
  return { ...Object.fromEntries(known), [me.user_id]: 'You' };
}
