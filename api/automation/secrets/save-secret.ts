import { defineStatement, run } from '../../../db/statement.js';
import { isSecretName } from '../language/template.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { encryptEnvelope } from '../../platform/crypto/encryption.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { recordUse } from './record-use.js';
import type { SaveSecret } from './schema.js';
import { getOwner } from './vault.js';

/** $1 = team id, $2 = name, $3 = data key, $4 = value, $5 = user id, $6 = allowed hosts, or null to keep the stored ones. */
const saveStatement = defineStatement({
  name: 'save_secret',
  text: /* sql */ `
    insert into team_secrets (team_id, name, data_key, sealed_value, updated_by, allowed_hosts)
    values ($1, $2, $3, $4, $5, coalesce($6::text[], '{}'))
    on conflict (team_id, name) do update set data_key = excluded.data_key, sealed_value = excluded.sealed_value,
      updated_by = excluded.updated_by, updated_at = now(),
      allowed_hosts = case when $6::text[] is null then team_secrets.allowed_hosts else excluded.allowed_hosts end
    returning old.name is null as is_new, allowed_hosts`,
});

/**
 * Creates a team's secret or replaces its value; actions use the newest value. `allowed_hosts` replaces the allowed hosts; absent
 * or null keeps them. The value and its hosts change together, so nobody can widen the hosts of a value that they do not know.
 * @returns the stored name
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin | INVALID_REQUEST characters not allowed in a name
 */
export function saveSecret(ctx: Context, { team_id, name, value, allowed_hosts }: SaveSecret): Promise<string> {
  return inTransaction(ctx, async (ctx) => {
    authorize('secret.write', await seatInTeam(ctx, team_id));
    if (!isSecretName(name)) throw invalid('Secret names cannot contain braces, slashes or control characters');
    const { data_key, sealed_value } = encryptEnvelope(ctx.config, getOwner(team_id, name), value);
    const values = [team_id, name, data_key, sealed_value, requireUser(ctx), allowed_hosts ?? null];
    const [saved] = await run<{ is_new: boolean; allowed_hosts: string[] }>(ctx.db, saveStatement, values);
    await recordUse(ctx, team_id, name, saved?.is_new ? 'create' : 'update', { allowed_hosts: saved?.allowed_hosts });
    return name;
  });
}
