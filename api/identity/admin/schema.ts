import { z } from 'zod';
import { Id, Text, Timestamp, TrimmedText } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { INSTANCE_ROLES } from '../../platform/access/actor.js';

const STATUSES = ['active', 'suspended', 'deprovisioned'] as const;
const PLANS = ['free', 'team', 'scale'] as const;

export const UserParams = z.object({ user_id: Id });
export const TeamParams = z.object({ team_id: Id });

export const ListUsers = z.object({
  q: Text.trim().max(200).optional().meta({ description: 'Part of the email or name' }),
  status: z.enum(STATUSES).optional(),
  ...byOffset(),
});
export type ListUsers = z.output<typeof ListUsers>;

export const AdminUser = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    username: z.string(),
    display_name: z.string(),
    role: z.enum(INSTANCE_ROLES),
    status: z.enum(STATUSES),
    two_factor_enabled: z.boolean(),
    locked: z.boolean().meta({ description: 'Too many failed sign-ins; ends after 15 minutes or by unlock' }),
    teams: z.int(),
    last_seen_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'AdminUser' });
export type AdminUser = z.output<typeof AdminUser>;

/** Reason of the action, stored in the audit log. */
export const Reason = TrimmedText(500);
export const Suspend = z.object({ reason: Reason }).meta({ id: 'Suspend' });

export const UserStatus = z
  .object({ success: z.literal(true), user_id: z.string(), status: z.enum(STATUSES) })
  .meta({ id: 'UserStatus' });
export type UserStatus = z.output<typeof UserStatus>;

export const SwitchPlan = z.object({ plan: z.enum(PLANS) }).meta({ id: 'SwitchPlan' });
export const TeamPlan = z
  .object({ team_id: z.string(), plan: z.enum(PLANS), entitlements: z.array(z.string()) })
  .meta({ id: 'TeamPlan' });
export type TeamPlan = z.output<typeof TeamPlan>;
