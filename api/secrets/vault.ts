import { run, type Statement } from '../../db/statement.js';
import type { Services } from '../core/context.js';
import { type Enveloped, openEnvelope } from '../core/seal.js';

/** What a value is bound to: no name holds a slash, so no two secrets have the same owner (F12). */
export const ownerOf = (teamId: string, name: string): string => `${teamId}/${name}`;

/** The master key that opens it is not at hand, or its row was tampered with. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/** @throws SecretUnreadable, whose cause the operator's log shows */
function openSecret(config: Services['config'], owner: string, row: Enveloped): string {
  try {
    return openEnvelope(config, owner, row);
  } catch (cause) {
    throw new SecretUnreadable('A secret cannot be opened with the master keys at hand', { cause });
  }
}

/** $1 team, $2 names. */
const readStatement: Statement = {
  name: 'read_secrets',
  text: 'select name, data_key, sealed_value from team_secrets where team_id = $1 and name = any($2::text[])',
};

/**
 * The newest values of a team's secrets, by name; one that does not exist is left out, and a personal automation (null) has none.
 * Only the activity that sends them somewhere may ask: a value goes into no history, log or record (durability notes, R5).
 * @throws SecretUnreadable
 */
export async function readSecrets(
  { db, config }: Pick<Services, 'db' | 'config'>,
  teamId: string | null,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (teamId === null || names.length === 0) return new Map();
  const rows = await run<Enveloped & { name: string }>(db, readStatement, [teamId, names]);
  return new Map(rows.map((row) => [row.name, openSecret(config, ownerOf(teamId, row.name), row)]));
}

/** Those of the names that the team has no secret of (F12: a warning when an automation is saved). */
export async function missingSecrets(
  { db }: Pick<Services, 'db'>,
  teamId: string | null,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const known = await db('team_secrets').where({ team_id: teamId }).whereIn('name', names).pluck<string[]>('name');
  return names.filter((name) => !known.includes(name));
}
