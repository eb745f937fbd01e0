import type { Seat } from '../../../platform/access/access.js';
import type { Invitation } from './schema.js';

/** An invitation as `INVITATION_COLUMNS` selects it. */
export interface InvitationRow extends Record<string, unknown> {
  invitation_id: string;
  /** Null for a user invited by id. */
  email: string | null;
  user_id: string | null;
  role: Seat;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  status: Invitation['status'];
}

/** Status by the database's clock. */
export const INVITATION_COLUMNS = /* sql */ `invitation_id, email, user_id, role, invited_by as created_by, created_at, expires_at,
  case when expires_at > now() then 'pending' else 'expired' end as status`;

export const present = ({ created_at, expires_at, ...row }: InvitationRow): Invitation => ({
  ...row,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
});
