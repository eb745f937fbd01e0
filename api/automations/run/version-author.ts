import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import { suffices, type Seat } from '../../core/access.js';
import { ActionRefused } from '../actions/action-refused.js';
import type { RunRow } from './load-run.js';

/** The person who saved the version that a run is pinned to: the account at this moment, and the role in the run's team. */
interface Author extends Record<string, unknown> {
  user_id: string;
  is_active: boolean;
  seat: Seat | null;
}

/** $1 = automation id, $2 = version, $3 = team id or null. */
const statement: Statement = {
  name: 'read_version_author',
  text: /* sql */ `
    select v.changed_by as user_id, u.status = 'active' as is_active, m.role as seat
    from automation_versions v join users u on u.user_id = v.changed_by
    left join memberships m on m.team_id = $3 and m.user_id = v.changed_by
    where v.automation_id = $1 and v.version = $2`,
};

export async function readAuthor(db: Knex, { automation_id, automation_version, team_id }: RunRow): Promise<Author | undefined> {
  const [author] = await run<Author>(db, statement, [automation_id, automation_version, team_id]);
  return author;
}

/**
 * A secret without allowed hosts is filled in only into what a team admin wrote, who still is one: hosts may have been removed, the
 * secret created, or the author's role changed since the version was saved.
 * @throws ActionRefused `secret_not_authorized`
 */
export function checkSecretAuthor(author: Author | undefined, secret: string): void {
  if (author?.is_active && suffices('secret.use_anywhere', author.seat)) return;
  const message = `The secret ${secret} has no allowed hosts, and no team admin saved this version: an admin saves it again, or adds hosts`;
  throw new ActionRefused({ code: 'secret_not_authorized', message });
}

/**
 * The creator's connection to a service serves only what the creator wrote: saving a version is the consent to what it does there.
 * @throws ActionRefused `connection_not_consented`
 */
export function checkConsent(author: Author | undefined, { creator_id }: RunRow, provider: string): void {
  if (author?.user_id === creator_id) return;
  const message = `Another person saved this version: it uses the creator’s connection to ${provider} once the creator saves it again`;
  throw new ActionRefused({ code: 'connection_not_consented', message });
}
