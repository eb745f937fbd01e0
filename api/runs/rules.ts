export const RUN_STATUSES = ['queued', 'running', 'paused', 'succeeded', 'failed', 'skipped', 'expired', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const ACTION_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'skipped', 'staged'] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];
export type SkipReason = 'condition_false' | 'rejected' | 'loop';

/** A text of at most so many code points: what is longer ends in "…". */
export function truncateText(text: string, most: number): string {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

/** Roles that a gate may name, lowest first (F6). */
export const GATE_ROLES = ['member', 'manager', 'admin'] as const;
export type GateRole = (typeof GATE_ROLES)[number];
export const GATE_DEFAULTS = {
  role: 'manager' as GateRole,
  expiresInSeconds: 259_200,
  requiredApprovals: 1,
  allowSelfApproval: true,
};
/** The type of the action that only waits. */
export const DELAY = 'delay';

/** Actions done in our own database, in moments; whatever else an automation does waits for somebody else's server. */
export const LOCAL_ACTIONS: readonly string[] = [
  'create_task',
  'update_task',
  'set_task_status',
  'assign_task',
  'add_comment',
  'notify',
  DELAY,
];

/** The type of the action that is a gate. */
export const GATE = 'require_approval';

/** Failures that another try would meet again: the event, the definition or the creator's rights would have to change (F5). */
const NON_RETRYABLE_CODES = [
  'action_unavailable',
  'connection_not_consented',
  'creator_not_authorized',
  'invalid_request',
  'permission_denied',
  'secret_host_refused',
  'secret_missing',
  'secret_not_authorized',
  'secret_unreadable',
  'template_invalid',
  'template_missing',
  'template_too_deep',
  'template_too_large',
  'validation_error',
];
export const isRetryableCode = (code: string): boolean => !NON_RETRYABLE_CODES.includes(code);

/** Seconds before the next try of an action, after so many: 1, 4, 16, 64. */
export const retryDelay = (attempt: number): number => 4 ** (attempt - 1);

export type GateState = 'pending' | 'lapsed' | 'approved' | 'rejected';

/** What the row of a gate says; approval and rejection outlive the expiry, which only closes the way to approve. */
export function gateState(decision: 'approved' | 'rejected' | null, expired: boolean): GateState {
  return decision ?? (expired ? 'lapsed' : 'pending');
}

/** How a run ended, from its rows: a failed action is never hidden by what came after it (contract, section 3; F7). */
export function settle(
  actions: readonly { status: ActionStatus }[],
  rejected: boolean,
): { status: RunStatus; skipReason: SkipReason | null } {
  if (actions.some((action) => action.status === 'failed')) return { status: 'failed', skipReason: null };
  return rejected ? { status: 'skipped', skipReason: 'rejected' } : { status: 'succeeded', skipReason: null };
}

/** An action of a run, as far as the run's end is judged by it. */
export interface ActionRow {
  index: number;
  type: string;
  status: ActionStatus;
  error: { code: string; message: string } | null;
}

/**
 * A run's own error: its first action that failed, which is what the dead letter shows; null when none did. The action is called by its
 * place in the request, as in what is said of a save that is refused: a bare number would leave open where counting begins.
 */
export function errorOf(actions: readonly ActionRow[]): { code: string; message: string } | null {
  const failed = actions.find((action) => action.status === 'failed');
  if (!failed) return null;
  const { code = 'failed', message = 'The action failed' } = failed.error ?? {};
  return { code, message: `actions[${failed.index}] (${failed.type}): ${message}` };
}
