import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { type EncryptedEnvelope, decryptEnvelope, encryptEnvelope } from '../../platform/crypto/encryption.js';
import { getOwner } from './connections.js';
import type { Provider } from './provider.js';
import { listProviders } from './registry.js';
import { GrantRefused, requestTokens, type Tokens } from './request-tokens.js';

interface Revocation extends EncryptedEnvelope, Record<string, unknown> {
  revocation_id: string;
  user_id: string;
  provider: string;
  is_expired: boolean;
}

/** $1 = revocation id. */
const readStatement = defineStatement({
  name: 'read_revocation',
  text: /* sql */ `
    select revocation_id, user_id, provider, data_key, sealed_value, coalesce(expires_at < now(), false) as is_expired
    from integration_revocations where revocation_id = $1`,
});
/** $1 = revocation id, $2 = data key, $3 = tokens, $4 = seconds until they expire, or null. */
const renewStatement = defineStatement({
  name: 'renew_revocation',
  text: /* sql */ `
    update integration_revocations set data_key = $2, sealed_value = $3, expires_at = now() + make_interval(secs => $4)
    where revocation_id = $1`,
});
/** $1 = revocation id. */
const deleteStatement = defineStatement({
  name: 'delete_revocation',
  text: 'delete from integration_revocations where revocation_id = $1',
});

/**
 * Returns a valid token. Renews an expired one first: a service revokes only tokens it knows, and the refresh token would stay
 * valid. Stores the new tokens, because a refresh token may work only once.
 * @throws GrantRefused | OutboundFailure
 */
async function validToken(services: Services, provider: Provider, row: Revocation): Promise<string> {
  const owner = getOwner(row.user_id, row.provider);
  const tokens = JSON.parse(decryptEnvelope(services.config, owner, row)) as Tokens;
  const settings = provider.settings(services.config);
  if (!row.is_expired || !tokens.refresh_token || !settings) return tokens.access_token;
  const grant = await requestTokens(settings, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  const sealed = encryptEnvelope(services.config, owner, JSON.stringify(grant.tokens));
  const values = [row.revocation_id, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(services.db, renewStatement, values);
  return grant.tokens.access_token;
}

/**
 * Revokes the tokens of a deleted connection at its service, then deletes them. May be repeated. Returns the outcome.
 * @throws OutboundFailure | Error with our own message: the service cannot do it now
 */
export async function revokeConnection(services: Services, revocationId: string): Promise<string> {
  const [row] = await run<Revocation>(services.db, readStatement, [revocationId]);
  if (!row) return 'nothing to do: already revoked';
  const provider = listProviders().find(({ key }) => key === row.provider);
  let outcome = 'forgotten: the service offers no revocation';
  if (provider?.revoke && provider.settings(services.config)) {
    try {
      await provider.revoke(services.config, await validToken(services, provider, row));
      outcome = 'revoked';
    } catch (thrown) {
      if (!(thrown instanceof GrantRefused)) throw thrown;
      outcome = 'forgotten: it was no good any more';
    }
  }
  await run(services.db, deleteStatement, [revocationId]);
  return outcome;
}
