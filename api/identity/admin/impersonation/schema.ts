import { z } from 'zod';
import { User } from '../../auth/schema.js';
import { Id, Text, Timestamp } from '../../../platform/fields.js';

export const Impersonate = z.object({ user_id: Id, reason: Text.trim().min(10).max(500) }).meta({ id: 'Impersonate' });
export type Impersonate = z.output<typeof Impersonate>;

export const Impersonation = z.object({ token: z.string(), expires_at: Timestamp, user: User }).meta({ id: 'Impersonation' });
export type Impersonation = z.output<typeof Impersonation>;

export const StoppedImpersonation = z.object({ success: z.literal(true) }).meta({ id: 'ImpersonationStopped' });
