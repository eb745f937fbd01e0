import { Conversation as ConversationRow } from '../../../db/models/team.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { readTeam } from './read-team.js';
import type { Conversation } from './schema.js';

/**
 * Lists the conversations of a team: the default one.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function listConversations(ctx: Context, teamId: string): Promise<Conversation[]> {
  const { seat } = await readTeam(ctx, teamId);
  authorize('team.read', seat);
  const rows = await ConversationRow.query(ctx.db)
    .where({ team_id: teamId })
    .orderBy(['created_at', 'conversation_id'])
    .select('conversation_id', 'title', 'is_default', 'created_at');
  return rows.map(({ conversation_id, title, is_default, created_at }) => ({
    conversation_id,
    title,
    is_default,
    created_at: created_at.toISOString(),
  }));
}
