export type Plan = 'free' | 'team' | 'scale';

const ENTITLEMENTS: Record<Plan, string[]> = { free: [], team: [], scale: ['audit_logs'] };

/** What a plan unlocks (B4). */
export const entitlementsOf = (plan: Plan): string[] => ENTITLEMENTS[plan];
