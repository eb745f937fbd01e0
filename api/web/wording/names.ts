import type { User } from '../../identity/auth/schema.js';
import type { Context } from '../../platform/context.js';
import { listMembers } from '../../identity/teams/list-members.js';
import type { Member } from '../../identity/teams/schema.js';

/** Returns the names of the user's teams by id. */
export const mapTeamNames = ({ teams }: User): Record<string, string> =>
  Object.fromEntries(teams.map(({ team_id, name }) => [team_id, name]));

/** Returns the members of the user's teams that occur in the list, by team. */
export async function membersIn(
  ctx: Context,
  me: User,
  things: readonly { team_id: string | null }[],
): Promise<Map<string, Member[]>> {
  const own = new Set(me.teams.map(({ team_id }) => team_id));
  const teams = [...new Set(things.map(({ team_id }) => team_id))].filter((id): id is string => id !== null && own.has(id));
  return new Map(await Promise.all(teams.map(async (teamId) => [teamId, await listMembers(ctx, teamId)] as const)));
}

/** Returns the names of members by id, as the user reads them. */
export const namesOf = (me: User, members: ReadonlyMap<string, readonly Member[]>): Record<string, string> => ({
  ...Object.fromEntries([...members.values()].flat().map(({ user_id, display_name }) => [user_id, display_name])),
  [me.user_id]: 'You',
});

/** Returns user names by id, for the user's teams that occur in the list. Former members are omitted. */
export const namesIn = async (ctx: Context, me: User, things: Parameters<typeof membersIn>[2]): Promise<Record<string, string>> =>
  namesOf(me, await membersIn(ctx, me, things));
