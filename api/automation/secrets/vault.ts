import { TeamSecret } from '../../../db/models/automation/team-secret.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { type EncryptedEnvelope, decryptEnvelope } from '../../platform/crypto/encryption.js';

/** Owner of a value. Names contain no slash, so no two secrets have the same owner. */
export const getOwner = (teamId: string, name: string): string => `${teamId}/${name}`;

/** Its master key is unavailable, or its row was tampered with. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/** @throws SecretUnreadable, whose cause appears in the operator's log */
function openSecret(config: Services['config'], owner: string, row: EncryptedEnvelope): string {
  try {
    return decryptEnvelope(config, owner, row);
  } catch (cause) {
    throw new SecretUnreadable('A secret cannot be opened with the master keys at hand', { cause });
  }
}

/** A stored secret: its encrypted value and allowed hosts. */
export interface StoredSecret extends EncryptedEnvelope, Record<string, unknown> {
  name: string;
  allowed_hosts: string[];
}

/** $1 = team id, $2 = names. */
const findStatement = defineStatement({
  name: 'find_secrets',
  text: /* sql */ `
    select name, data_key, sealed_value, allowed_hosts from team_secrets
    where team_id = $1 and name = any($2::text[]) order by name`,
});

/** Returns a team's encrypted secrets by name. Omits missing ones; a personal automation (null) has none. */
export async function findSecrets(
  { db }: Pick<Services, 'db'>,
  teamId: string | null,
  names: readonly string[],
): Promise<StoredSecret[]> {
  if (teamId === null || names.length === 0) return [];
  return run<StoredSecret>(db, findStatement, [teamId, names]);
}

/**
 * Decrypts stored secrets, by name. Only the activity that sends a value may call this: no value may reach a workflow history, a
 * log or a record.
 * @throws SecretUnreadable
 */
export const openSecrets = (config: Services['config'], teamId: string, secrets: readonly StoredSecret[]): Map<string, string> =>
  new Map(secrets.map((secret) => [secret.name, openSecret(config, getOwner(teamId, secret.name), secret)]));

/** Returns the names without a secret in the team; saving an automation warns about them. */
export async function missingSecrets(
  { db }: Pick<Services, 'db'>,
  teamId: string | null,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const known = await TeamSecret.query(db).where({ team_id: teamId }).whereIn('name', names).select('name');
  return names.filter((name) => !known.some((secret) => secret.name === name));
}
