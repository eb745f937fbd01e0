import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import type { RunRow } from './load-run.js';

/** A user who authorized a version's actions: the current account status, and the role in the run's team. */
interface Author extends Record<string, unknown> {
  user_id: string;
  is_active: boolean;
  seat: Seat | null;
}

/**
 * $1 = automation id, $2 = version, $3 = team id or null. Returns who saved the version and, if it repeats the actions of another
 * one, their authors too.
 */
const statement = defineStatement({
  name: 'read_version_authors',
  text: /* sql */ `
    select u.user_id, u.status = 'active' as is_active, m.role as seat
    from automation_versions v
    join users u on u.user_id = v.changed_by or u.user_id = any(v.actions_kept_from)
    left join memberships m on m.team_id = $3 and m.user_id = u.user_id
    where v.automation_id = $1 and v.version = $2`,
});

export const readAuthors = (db: Knex, { automation_id, automation_version, team_id }: RunRow): Promise<Author[]> =>
  run<Author>(db, statement, [automation_id, automation_version, team_id]);

/**
 * Requires that team admins wrote the actions that use a secret without allowed hosts, and are still admins. Hosts may have been
 * removed, the secret created, or the author's role changed since the version was saved (docs/decisions/automation.md#secrets-in-actions).
 * @throws ActionRefused `secret_not_authorized`
 */
export function checkSecretAuthors(authors: readonly Author[], secret: string): void {
  if (authors.length > 0 && authors.every(({ is_active, seat }) => is_active && isAllowed('secret.use_anywhere', seat))) return;
  const message = `The secret ${secret} has no allowed hosts, and no team admin saved the actions of this version; an admin must save them again or add hosts`;
  throw new ActionRefused({ code: 'secret_not_authorized', message });
}

/**
 * Requires that the creator wrote the actions that use the creator's connection: saving them is the consent to their effects.
 * Renaming another author's version is no consent (docs/decisions/automation.md#connection-consent).
 * @throws ActionRefused `connection_not_consented`
 */
export function checkConsent(authors: readonly Author[], { creator_id }: RunRow, provider: string): void {
  if (authors.length > 0 && authors.every(({ user_id }) => user_id === creator_id)) return;
  const message = `Another user saved the actions of this version; the creator must save them again to use their connection to ${provider}`;
  throw new ActionRefused({ code: 'connection_not_consented', message });
}
