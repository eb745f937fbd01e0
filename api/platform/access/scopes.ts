/** Scopes of personal access tokens with their labels. */
export const SCOPES = {
  'tasks:read': 'View work items',
  'tasks:write': 'Create & update work items',
  'projects:read': 'View projects',
  'projects:write': 'Create & update projects',
  'teams:read': 'View teams & members',
  'automations:read': 'View automations & runs',
  'automations:write': 'Create & update automations',
  'approvals:decide': 'Decide approvals',
  'requests:read': 'View change requests',
  'requests:create': 'Make and use change requests',
  'graph:read': 'Read the work graph',
  'ai:chat': 'Use the AI workspace (chat)',
  'ai:confirm': 'Confirm AI-proposed actions',
  'admin:*': 'Full account access (admin)',
} as const;

export type Scope = keyof typeof SCOPES;
