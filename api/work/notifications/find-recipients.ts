import { defineStatement, run } from '../../../db/statement.js';
import { rolesFrom, type Seat, SEATS } from '../../platform/access/access.js';
import type { Services } from '../../platform/context.js';

export interface Recipient extends Record<string, unknown> {
  user_id: string;
  email: string;
  name: string;
}

export interface RecipientFilter {
  /** Null for a personal automation: only the user in `userIds`. */
  teamId: string | null;
  /** Minimum role in the team. */
  role?: Seat;
  userIds?: readonly string[];
  except?: readonly (string | null)[];
}

/** Maximum recipients per notification (docs/decisions/work.md#notification-recipients). */
const MAX_RECIPIENTS = 100;

/**
 * SQL: $1 = team id or null, $2 = roles or null for any, $3 = user ids or null for all, $4 = excluded user ids, $5 = roles from highest to
 * lowest. Active accounts only, higher roles first.
 */
export const RECIPIENTS = /* sql */ `
    select u.user_id, u.email, u.display_name as name from users u
    left join memberships m on m.team_id = $1 and m.user_id = u.user_id
    where u.status = 'active' and ($1::uuid is null or m.role is not null) and ($2::text[] is null or m.role = any($2))
      and ($3::uuid[] is null or u.user_id = any($3)) and u.user_id <> all($4::uuid[])
      and ($1::uuid is not null or $3::uuid[] is not null)
    order by array_position($5::text[], m.role), m.joined_at, u.user_id limit ${MAX_RECIPIENTS}`;

const statement = defineStatement({ name: 'find_recipients', text: RECIPIENTS });

/** Returns $1 to $5 of the statement. */
export const recipientValues = ({ teamId, role, userIds, except = [] }: RecipientFilter): unknown[] => [
  teamId,
  role === undefined ? null : rolesFrom(role),
  userIds ?? null,
  except.filter((id) => id !== null),
  [...SEATS].reverse(),
];

/** Returns the recipients: by role or id within a team, or one user without a team. */
export const findRecipients = ({ db }: Pick<Services, 'db'>, filter: RecipientFilter): Promise<Recipient[]> =>
  run<Recipient>(db, statement, recipientValues(filter));
