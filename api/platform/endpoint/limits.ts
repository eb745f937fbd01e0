import type { Config } from '../config.js';

/** Each limited route has its own bucket (docs/decisions/platform.md#rate-limit-windows). Limits are per minute; 0 disables one, outside production only. */
export const LIMITS = {
  login: { setting: 'RATE_LIMIT_LOGIN', per: 'ip' },
  signup_start: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  signup_verify: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  two_factor_verify: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  login_otp_verify: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  login_otp_resend: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  password_forgot: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  password_reset: { setting: 'RATE_LIMIT_CODES', per: 'ip' },
  bulk_import: { setting: 'RATE_LIMIT_FILE_UPLOAD', per: 'user' },
  file_upload: { setting: 'RATE_LIMIT_FILE_UPLOAD', per: 'ip' },
  forge_webhook: { setting: 'RATE_LIMIT_FORGE_WEBHOOK', per: 'ip' },
  forge_address: { setting: 'RATE_LIMIT_FORGE_WEBHOOK', per: 'token' },
  ai_session_create: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_session_list: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_session_get: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_session_change: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_pending: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_confirm: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_confirm_action: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  approvals_decide: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_edit: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_plan: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_undo: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_session_delete: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_link: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_unlink: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_chat: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_stop: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_search: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_settings_get: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  ai_settings_put: { setting: 'RATE_LIMIT_AI', per: 'ip' },
  request_approve: { setting: 'RATE_LIMIT_AI', per: 'user' },
  request_reject: { setting: 'RATE_LIMIT_AI', per: 'user' },
  request_edit: { setting: 'RATE_LIMIT_AI', per: 'user' },
  request_create: { setting: 'RATE_LIMIT_REQUEST_CREATE', per: 'token' },
  mcp: { setting: 'RATE_LIMIT_MCP', per: 'token' },
  mcp_gateway: { setting: 'RATE_LIMIT_MCP', per: 'token' },
  mcp_propose: { setting: 'RATE_LIMIT_MCP_PROPOSE', per: 'token' },
  automation_hook: { setting: 'RATE_LIMIT_AUTOMATION_HOOK', per: 'token' },
  automation_dispatch: { setting: 'RATE_LIMIT_AUTOMATION_DISPATCH', per: 'user' },
} as const satisfies Record<string, { setting: keyof Config; per: 'ip' | 'user' | 'token' }>;

export type LimitName = keyof typeof LIMITS;

/** Settings for tests and measurements: limits that no caller reaches. 0 would disable the limiter, whose cost is part of a measurement. */
export const UNLIMITED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(LIMITS).map(({ setting }) => [setting, '1000000000']),
);
