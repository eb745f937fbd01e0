const ON_RECORDS = ['create', 'update', 'delete', 'restore', 'purge', 'read', 'export', 'import'] as const;
const ON_ACCOUNTS = ['login', 'login_failed', 'logout', 'lockout', 'enroll', 'verify', 'rotate', 'revoke', 'deny'] as const;
const ON_RUNS = ['approve', 'reject', 'expire', 'execute', 'retry', 'toggle', 'rollback', 'stage', 'confirm', 'discard'] as const;
const ON_SEATS = ['add_member', 'remove_member', 'change_role'] as const;
const BY_ADMINS = ['suspend', 'reinstate', 'deprovision', 'impersonate_start', 'impersonate_end'] as const;

/** Said beside the decision's list, which has no word for these that tells as much. No more are to come. */
const MORE_ON_SIGN_UP = ['sign_up_start', 'sign_up', 'sign_up_refused', 'login_code_sent', 'login_code_withheld'] as const;
const MORE_ON_PASSWORDS = ['password_forgot', 'password_reset', 'password_change', 'unlock'] as const;
const MORE_ON_FACTORS = ['two_factor_enroll', 'two_factor_on', 'two_factor_off', 'recovery_codes_renewed'] as const;
const MORE_ON_ENDS = ['session_revoke', 'device_revoke', 'end_sessions', 'revoke_tokens'] as const;
const MORE_ON_SERIES = ['end_series', 'block_series'] as const;
const MORE_ON_TEAMS = ['invite', 'join', 'revoke_invitation', 'switch_plan'] as const;

/** What an audit entry may say was done. Source: decision G5. */
export const AUDIT_ACTIONS = [
  ...ON_RECORDS,
  ...ON_ACCOUNTS,
  ...ON_RUNS,
  ...ON_SEATS,
  ...BY_ADMINS,
  ...MORE_ON_SIGN_UP,
  ...MORE_ON_PASSWORDS,
  ...MORE_ON_FACTORS,
  ...MORE_ON_ENDS,
  ...MORE_ON_SERIES,
  ...MORE_ON_TEAMS,
];
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
