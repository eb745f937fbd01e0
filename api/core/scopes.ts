import { forbidden } from './errors.js';

/** Scopes of personal access tokens with their labels. */
export const SCOPES = {
  'tasks:read': 'View work items',
  'tasks:write': 'Create & update work items',
  'projects:read': 'View projects',
  'projects:write': 'Create & update projects',
  'teams:read': 'View teams & members',
  'automations:read': 'View automations & runs',
  'automations:write': 'Create & update automations',
  'graph:read': 'Read the work graph',
  'ai:chat': 'Use the AI workspace (chat)',
  'ai:confirm': 'Confirm AI-proposed actions',
  'admin:*': 'Full account access (admin)',
} as const;

export type Scope = keyof typeof SCOPES;

/**
 * Rejects a token without `scope`. `admin:*` satisfies every check; `x:write` does not imply `x:read`.
 * @throws PERMISSION_DENIED naming the scope
 */
export function requireScope(granted: readonly Scope[], scope: Scope): void {
  if (granted.includes(scope) || granted.includes('admin:*')) return;
  throw forbidden(`Token is missing the required scope: ${scope}`);
}
