import { hasRoleAtLeast, isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';

/** What a decision about a request depends on. */
export interface DecidableRequest {
  requested_by: string;
  self_ids: readonly string[];
  required_role: Seat;
  allow_self: boolean;
  require_code: boolean;
  /** Only a signed-in person decides in this team. */
  signed_in: boolean;
  /** The caller's role in the team. */
  seat: Seat | null;
}

type Reason = 'role' | 'self' | 'token_may_not_decide' | 'signed_in_required';
type Caller = Pick<Context, 'actor'>;

/** `admin:*` does not imply the scope here: every old token of a build would become an approver. */
const isDecidingToken = ({ actor }: Caller): boolean => actor.type === 'pat' && actor.scopes.includes('approvals:decide');

/**
 * Returns why the caller may not decide, or null. A no only prevents effects, so the people behind a request may say it. Where they may approve it
 * themselves, the second channel takes the place of a second person: they do so signed in.
 */
function whyNot(caller: Caller, decision: 'approved' | 'rejected', request: DecidableRequest): Reason | null {
  if (!hasRoleAtLeast(request.seat, request.required_role)) return 'role';
  const userId = requireUser(caller);
  const isSelf = userId === request.requested_by || request.self_ids.includes(userId);
  if (decision === 'approved' && isSelf && !request.allow_self) return 'self';
  if (caller.actor.type === 'user') return null;
  if (request.signed_in) return 'signed_in_required';
  if (!isDecidingToken(caller)) return 'token_may_not_decide';
  return decision === 'approved' && (isSelf || request.require_code) ? 'token_may_not_decide' : null;
}

/** Whether the caller may approve a request that waits. */
export const mayApproveRequest = (ctx: Context, request: DecidableRequest): boolean =>
  isAdmitted('request.decide', ctx.actor) &&
  isAllowed('request.decide', request.seat) &&
  whyNot(ctx, 'approved', request) === null;

const SAY: Readonly<Record<Reason, (request: DecidableRequest) => string>> = {
  role: ({ required_role }) => `This request requires the ${required_role} role in the team`,
  self: () => 'This request requires the approval of someone who is not behind it',
  token_may_not_decide: () => 'This decision needs a signed-in person, or another user’s token with approvals:decide',
  signed_in_required: () => 'Only a signed-in person may decide this, no token',
};

/** @throws PERMISSION_DENIED with `reason` */
export function authorizeRequest(ctx: Context, decision: 'approved' | 'rejected', request: DecidableRequest): void {
  const reason = whyNot(ctx, decision, request);
  if (reason !== null) throw forbidden(SAY[reason](request), { extra: { reason } });
}
