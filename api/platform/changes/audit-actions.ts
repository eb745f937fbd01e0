const ON_RECORDS = [
  'create',
  'update',
  'delete',
  'restore',
  'purge',
  'read',
  'export',
  'import',
  'download',
  'archive',
  'link',
  'unlink',
] as const;
const ON_SIGN_UP = ['sign_up_start', 'sign_up', 'sign_up_refused'] as const;
const ON_SIGN_IN = ['login', 'login_failed', 'login_code_sent', 'login_code_withheld', 'logout', 'lockout', 'unlock'] as const;
const ON_PASSWORDS = ['password_forgot', 'password_reset', 'password_change'] as const;
const ON_FACTORS = [
  'enroll',
  'verify',
  'two_factor_enroll',
  'two_factor_on',
  'two_factor_off',
  'recovery_codes_renewed',
] as const;
const ON_CREDENTIALS = ['rotate', 'revoke', 'revoke_tokens', 'session_revoke', 'device_revoke', 'end_sessions', 'deny'] as const;
const ON_TEAMS = [
  'add_member',
  'remove_member',
  'change_role',
  'invite',
  'join',
  'decline',
  'revoke_invitation',
  'switch_plan',
] as const;
const ON_RUNS = ['approve', 'reject', 'expire', 'execute', 'retry', 'toggle', 'rollback', 'change_owner'] as const;
const ON_PLANS = ['stage', 'confirm', 'discard', 'undo'] as const;
const ON_REQUESTS = ['redeem', 'report', 'stale'] as const;
const ON_WORK = ['claim', 'start', 'complete', 'cancel', 'end_series', 'block_series'] as const;
const BY_ADMINS = ['suspend', 'reinstate', 'deprovision', 'impersonate_start', 'impersonate_end'] as const;

/** Every action an audit entry may name, for all features. */
export const AUDIT_ACTIONS = [
  ...ON_RECORDS,
  ...ON_SIGN_UP,
  ...ON_SIGN_IN,
  ...ON_PASSWORDS,
  ...ON_FACTORS,
  ...ON_CREDENTIALS,
  ...ON_TEAMS,
  ...ON_RUNS,
  ...ON_PLANS,
  ...ON_REQUESTS,
  ...ON_WORK,
  ...BY_ADMINS,
];
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
