/** Example responses about accounts and teams, with the people of the demo data. */

export const AT = '2026-11-20T17:51:02.123Z';
export const ADA = '019a9f00-0000-7000-8000-000000000001';
export const MAX = '019a9f00-0000-7000-8000-000000000002';
const UMA = '019a9f00-0000-7000-8000-000000000004';
export const TEAM_ID = '019a9f00-0000-7000-8000-000000000003';
const JOB_ID = '019a9f00-0000-7000-8000-000000000020';
const INVITATION_ID = '019a9f00-0000-7000-8000-000000000021';
const SESSION_ID = '019a9f00-0000-7000-8000-000000000022';
const DEVICE_ID = '019a9f00-0000-7000-8000-000000000023';
const TOKEN_ID = '019a9f00-0000-7000-8000-000000000024';

const buildAvatar = (name: string) => `https://api.dicebear.com/9.x/initials/svg?seed=${encodeURIComponent(name)}`;

const user = {
  user_id: ADA,
  email: 'ada@demo.test',
  name: 'Ada Marsh',
  role: 'user',
  has_password: true,
  username: 'ada',
  display_name: 'Ada Marsh',
  avatar: buildAvatar('Ada Marsh'),
  plan: 'scale',
  entitlements: ['automations', 'approvals'],
  two_factor_enabled: false,
  status: 'active',
  teams: [{ team_id: TEAM_ID, key: 'ACM', name: 'Acme', role: 'admin' }],
  preferences: { timezone: 'Europe/Berlin', locale: 'en', week_start: 'monday', theme: 'auto', default_team_id: TEAM_ID },
  impersonated_by: null,
  auth_method: 'jwt',
};
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTlhOWYwMCJ9.c2lnbmF0dXJl';
const signedIn = { token: JWT, requires_2fa: false, requires_login_otp: false, user };

const browser = { ip_address: '203.0.113.7', user_agent: 'Firefox on Linux', created_at: AT, last_seen_at: AT, current: true };
const CODES = [
  'k7wq-3m9x',
  'p2rt-8vbn',
  'h4zc-6jdf',
  'x9ly-1qke',
  'm3gs-7wut',
  'b8np-5rxa',
  'f6vd-2hco',
  't1jk-9ems',
  'q5xi-4bzl',
];
const recovery_codes = [...CODES, 'w2ua-8gyn'];

const token = {
  token_id: TOKEN_ID,
  name: 'CI of acme/rocket',
  scopes: ['tasks:read', 'tasks:write'],
  strict: true,
  mcp_only: false,
  prefix: 'svc_pat_k3Jx...',
  token_prefix: 'svc_pat_k3Jx...',
  created_at: AT,
  expires_at: '2026-12-20T17:51:02.123Z',
  last_used_at: null,
  revoked: false,
  status: 'active',
};

const team = {
  team_id: TEAM_ID,
  name: 'Acme',
  description: 'Rockets, mostly',
  decisions_signed_in: false,
  key: 'ACM',
  member_ids: [ADA, MAX, UMA],
  created_by: ADA,
  created_at: AT,
};
const max = {
  email: 'max@demo.test',
  name: 'Max Olsen',
  display_name: 'Max Olsen',
  username: 'max',
  avatar: buildAvatar('Max Olsen'),
};
const member = { user_id: MAX, ...max, role: 'manager', is_guest: false, joined_at: AT };
const invited = { invitation_id: INVITATION_ID, role: 'member', created_at: AT, expires_at: '2026-11-27T17:51:02.123Z' };

const account = {
  user_id: MAX,
  email: max.email,
  name: max.name,
  username: max.username,
  display_name: max.display_name,
  role: 'user',
  status: 'active',
  two_factor_enabled: false,
  locked: false,
  teams: 1,
  last_seen_at: AT,
  created_at: AT,
};
const job = {
  job_id: JOB_ID,
  user_id: UMA,
  reassign_to: MAX,
  reason: 'Left the company',
  created_by: ADA,
  status: 'running',
  steps: [
    { step: 'revoke_tokens', team_id: null, result: { tokens: 2 }, done_at: AT },
    { step: 'end_sessions', team_id: null, result: { sessions: 1 }, done_at: AT },
  ],
  created_at: AT,
  started_at: AT,
  finished_at: null,
};

/** By the id of the response schema. */
export const PEOPLE: Record<string, unknown> = {
  LoginResult: signedIn,
  SignedIn: signedIn,
  User: user,
  Said: { message: 'If an account exists, a code was emailed' },
  TwoFactor: { enabled: true, recovery_codes_left: 10 },
  TwoFactorEnrolment: {
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    otpauth_url: 'otpauth://totp/Assent:ada%40demo.test?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Assent',
  },
  TwoFactorActivated: { enabled: true, recovery_codes },
  RecoveryCodes: { recovery_codes },
  TwoFactorDisabled: { enabled: false },
  Succeeded: { success: true },
  Renewed: { token: JWT, expires_at: '2026-11-20T18:51:02.123Z' },
  Session: { session_id: SESSION_ID, ...browser },
  SessionEnded: { success: true, session_id: SESSION_ID },
  TrustedDevice: { device_id: DEVICE_ID, ...browser, expires_at: '2026-12-20T17:51:02.123Z' },
  DeviceGone: { success: true, device_id: DEVICE_ID },
  CreatedToken: { ...token, token: 'svc_pat_k3Jx9yQ2mT7vB4nR8wZ1cL6dF5hG0sXeUoPiAqKjMtE' },
  TokenList: { tokens: [{ ...token, last_used_at: AT }] },
  ScopeList: { scopes: [{ key: 'tasks:read', label: 'Read tasks' }] },
  RevokedToken: { success: true, token_id: TOKEN_ID, revoked: true },
  Team: team,
  CreatedTeam: { ...team, ignored_member_ids: [], invited_member_ids: [] },
  DeletedTeam: { success: true, team_id: TEAM_ID },
  Conversation: { conversation_id: '019a9f00-0000-7000-8000-000000000025', title: 'General', is_default: true, created_at: AT },
  Member: member,
  Invitation: { ...invited, email: 'nina@demo.test', user_id: null, status: 'pending', created_by: ADA },
  OwnInvitation: { ...invited, team_id: TEAM_ID, team_name: 'Acme', inviter_name: 'Ada Marsh' },
  RemovedMember: { success: true, removed: MAX, unassigned_tasks: 3 },
  RevokedInvitation: { success: true, invitation_id: INVITATION_ID },
  AdminUser: account,
  UserStatus: { success: true, user_id: MAX, status: 'suspended' },
  TeamPlan: { team_id: TEAM_ID, plan: 'team', entitlements: ['automations'] },
  DeprovisionJobRef: { job_id: JOB_ID, status: 'queued' },
  DeprovisionJob: job,
  Impersonation: { token: JWT, expires_at: '2026-11-20T18:21:02.123Z', user: { ...user, impersonated_by: MAX } },
  ImpersonationStopped: { success: true },
};
