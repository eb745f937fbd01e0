import type { Proposal, ProposedAction } from '../../plans/proposal.js';

/** Hours that a person has to confirm a plan from a chat. */
const LIFE_HOURS = 24;

/** Returns what is staged for the author of a message: all or nothing, so that the model or the person learns what was refused. */
export const proposalOf = (
  { session_id, user_id, token_id }: { session_id: string; user_id: string; token_id: string | null },
  actions: readonly ProposedAction[],
): Proposal => ({
  session: { session_id, owner_id: user_id, team_id: null },
  source: 'chat',
  actions,
  lifeHours: LIFE_HOURS,
  onRefusal: 'refuse',
  tokenId: token_id,
});
