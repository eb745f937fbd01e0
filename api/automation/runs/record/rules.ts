export const RUN_STATUSES = ['queued', 'running', 'paused', 'succeeded', 'failed', 'skipped', 'expired', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const ACTION_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'skipped', 'staged'] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];
export type SkipReason = 'condition_false' | 'rejected' | 'loop';

/** Truncates a text to a number of code points; a truncated text ends in "…". */
export function truncateText(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** Permanent failures: only a change of the event, the definition or the creator's permissions would help. */
const NON_RETRYABLE_CODES = [
  'action_unavailable',
  'condition_failed',
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

/** Returns the backoff in seconds after this many attempts: 1, 4, 16, 64. */
export const retryDelay = (attempt: number): number => 4 ** (attempt - 1);

export type GateState = 'pending' | 'lapsed' | 'approved' | 'rejected';

/** Returns a gate's state. A decision outlives the expiry, which only prevents approval. */
export function gateState(decision: 'approved' | 'rejected' | null, expired: boolean): GateState {
  return decision ?? (expired ? 'lapsed' : 'pending');
}

/** Returns the final status of a run. A failed action always makes the run failed (docs/decisions/automation.md#failures-stay-visible). */
export function settle(
  actions: readonly { status: ActionStatus }[],
  rejected: boolean,
): { status: RunStatus; skipReason: SkipReason | null } {
  if (actions.some((action) => action.status === 'failed')) return { status: 'failed', skipReason: null };
  return rejected ? { status: 'skipped', skipReason: 'rejected' } : { status: 'succeeded', skipReason: null };
}

/** The fields of an action that decide the run's end. */
export interface ActionRow {
  index: number;
  type: string;
  status: ActionStatus;
  error: { code: string; message: string } | null;
}

/**
 * Returns the run's error, which the dead letter shows: its first failed action, or null. Names the action by its path, as
 * validation errors do: a bare number would leave open whether counting starts at 0.
 */
export function buildError(actions: readonly ActionRow[]): { code: string; message: string } | null {
  const failed = actions.find((action) => action.status === 'failed');
  if (!failed) return null;
  const { code = 'failed', message = 'The action failed' } = failed.error ?? {};
  return { code, message: `actions[${failed.index}] (${failed.type}): ${message}` };
}
