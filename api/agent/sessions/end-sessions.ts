import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { closePlansOfSession } from '../plans/decisions/close-plans.js';
import { emptySessions, stopTurns } from './change-session.js';

/** $1 = owner, $2 = team. Locks the live sessions of a person, or of a team, in order. */
const lockStatement = defineStatement({
  name: 'lock_agent_sessions_of',
  text: /* sql */ `
    select s.session_id from agent_sessions s
    where (s.owner_id = $1 or s.team_id = $2) and s.deleted_at is null order by s.session_id for no key update`,
});

/** $1 = user, $2 = team. Links in the person's sessions to items of the team. */
const unlinkTeamStatement = defineStatement({
  name: 'unlink_team_of_person',
  text: /* sql */ `
    delete from agent_links l using agent_sessions s
    where s.owner_id = $1 and l.session_id = s.session_id
      and (select p.team_id from item_place p where p.item_id = l.item_id limit 1) = $2
    returning l.item_id`,
});

/** $1 = item ids. */
const unlinkItemsStatement = defineStatement({
  name: 'unlink_agent_items',
  text: 'delete from agent_links where item_id = any($1::text[])',
});

async function endSessions(ctx: Context, owner: string | null, team: string | null): Promise<number> {
  const sessions = await run<{ session_id: string }>(ctx.db, lockStatement, [owner, team]);
  const ids = sessions.map(({ session_id }) => session_id);
  for (const id of ids) {
    await stopTurns(ctx, id);
    await closePlansOfSession(ctx, id);
  }
  if (ids.length > 0) await emptySessions(ctx, ids);
  return ids.length;
}

/** Deletes the conversations of a person with the agent, in the caller's transaction. Returns their number. */
export const endSessionsOfPerson = (ctx: Context, userId: string): Promise<number> => endSessions(ctx, userId, null);

/** Deletes the sessions that a team owns, in the caller's transaction. Returns their number. */
export const endSessionsOfTeam = (ctx: Context, teamId: string): Promise<number> => endSessions(ctx, null, teamId);

/** Removes the links of a person to items of a team that they leave: they do not come back with the membership. Returns their number. */
export async function unlinkTeam({ db }: Pick<Context, 'db'>, userId: string, teamId: string): Promise<number> {
  return (await run(db, unlinkTeamStatement, [userId, teamId])).length;
}

/** Removes the links to items that are purged. */
export async function unlinkItems({ db }: Pick<Context, 'db'>, itemIds: readonly string[]): Promise<void> {
  await run(db, unlinkItemsStatement, [itemIds]);
}
