import { run, type Statement } from '../../db/statement.js';
import type { Services } from '../core/context.js';
import { type EncryptedEnvelope, decryptEnvelope } from '../core/crypto/encryption.js';

/** What a value is bound to: no name holds a slash, so no two secrets have the same owner (F12). */
export const ownerOf = (teamId: string, name: string): string => `${teamId}/${name}`;

/** The master key that opens it is not at hand, or its row was tampered with. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/** @throws SecretUnreadable, whose cause the operator's log shows */
function openSecret(config: Services['config'], owner: string, row: EncryptedEnvelope): string {
  try {
    return decryptEnvelope(config, owner, row);
  } catch (cause) {
    throw new SecretUnreadable('A secret cannot be opened with the master keys at hand', { cause });
  }
}

/** A secret as it is stored: its value sealed, with the hosts that this value may be sent to. */
export interface StoredSecret extends EncryptedEnvelope, Record<string, unknown> {
  name: string;
  allowed_hosts: string[];
}

/** $1 = team id, $2 = names. */
const findStatement: Statement = {
  name: 'find_secrets',
  text: /* sql */ `
    select name, data_key, sealed_value, allowed_hosts from team_secrets
    where team_id = $1 and name = any($2::text[]) order by name`,
};

/** A team's secrets of these names, sealed. One that does not exist is left out, and a personal automation (null) has none. */
export async function findSecrets(
  { db }: Pick<Services, 'db'>,
  teamId: string | null,
  names: readonly string[],
): Promise<StoredSecret[]> {
  if (teamId === null || names.length === 0) return [];
  return run<StoredSecret>(db, findStatement, [teamId, names]);
}

/**
 * The values of stored secrets, by name. Only the activity that sends them somewhere may ask: a value goes into no history, log or
 * record (durability notes, R5).
 * @throws SecretUnreadable
 */
export const openSecrets = (config: Services['config'], teamId: string, secrets: readonly StoredSecret[]): Map<string, string> =>
  new Map(secrets.map((secret) => [secret.name, openSecret(config, ownerOf(teamId, secret.name), secret)]));

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
