export type Plan = 'free' | 'team' | 'scale';

const ENTITLEMENTS: Record<Plan, string[]> = { free: [], team: [], scale: ['audit_logs'] };

/** Returns the features that a plan unlocks. */
export const entitlementsOf = (plan: Plan): string[] => ENTITLEMENTS[plan];
