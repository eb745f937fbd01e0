import type { TurnStep } from '../../run-steps/step-of-turn.sql.js';
import { stepProposal } from '../../run-steps/step-session.js';
import type { Proposal, ProposedAction } from '../../plans/proposal.js';

/** Hours that a person has to confirm a plan from a chat. */
const LIFE_HOURS = 24;

interface Author {
  session_id: string;
  user_id: string;
  token_id: string | null;
  behind_user_ids: string[];
  step: TurnStep | null;
}

/**
 * Returns what is staged for the author of a message, or for the step of a run: all or nothing, so that the model, the person or the run
 * learns what was refused.
 */
export function buildProposal(
  { session_id, user_id, token_id, behind_user_ids: behind, step }: Author,
  actions: readonly ProposedAction[],
): Proposal {
  const team_id = step?.team_id ?? null;
  const session = { session_id, owner_id: team_id === null ? user_id : null, team_id };
  if (step) return { ...stepProposal(step, session, actions), behind };
  return { session, source: 'chat', actions, lifeHours: LIFE_HOURS, onRefusal: 'refuse', tokenId: token_id, behind };
}
