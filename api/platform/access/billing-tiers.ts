/** What a team pays for; the API calls it the team's `plan`. */
export type BillingTier = 'free' | 'team' | 'scale';

const ENTITLEMENTS: Record<BillingTier, string[]> = { free: [], team: [], scale: ['audit_logs'] };

/** Returns the features that a tier unlocks. */
export const listEntitlements = (tier: BillingTier): string[] => ENTITLEMENTS[tier];
