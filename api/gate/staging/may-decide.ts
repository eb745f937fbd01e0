import { requireSession } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';

/** What a decision asks of the caller: about a gate of a run, or a plan of the agent. */
export interface Requirement {
  /** The caller has the role that it asks for, in every team that it changes. */
  has_role: boolean;
  /** Users behind its cause, or who shaped it, whose yes does not count. */
  excluded: readonly string[];
  /** Only a signed-in person decides, no token. */
  signed_in: boolean;
  /** The token that proposed it. */
  token_id: string | null;
}

type Caller = Pick<Context, 'actor'>;

/** Why a user may not decide. */
type Reason = 'role' | 'own' | 'own_token' | 'signed_in';

/**
 * Returns why the caller may not decide, or null: the one evaluation for every kind of decision, before it is offered and when it is made. A no only
 * prevents effects, so the people behind the cause may say it, and the token that proposed. Whether the kind of caller is admitted at all is the
 * ability's matter.
 */
export function whyNot(caller: Caller, decision: 'approved' | 'rejected', asked: Requirement): Reason | null {
  const { actor } = caller;
  if (!asked.has_role) return 'role';
  if (decision === 'approved' && asked.excluded.includes(requireUser(caller))) return 'own';
  if (decision === 'approved' && actor.type === 'pat' && actor.tokenId === asked.token_id) return 'own_token';
  return asked.signed_in && actor.type !== 'user' ? 'signed_in' : null;
}

/**
 * Rejects a caller who may not decide. `say` throws the error of each reason, in the words of the kind of decision.
 * @throws PERMISSION_DENIED
 */
export function authorizeDecision(
  caller: Caller,
  decision: 'approved' | 'rejected',
  asked: Requirement,
  say: Readonly<Record<Exclude<Reason, 'signed_in'>, () => void>>,
): void {
  const reason = whyNot(caller, decision, asked);
  if (reason === 'signed_in') requireSession(caller.actor);
  else if (reason !== null) say[reason]();
}
