import type { Services } from '../../platform/context.js';
import { type EncryptedEnvelope, decryptEnvelope, encryptEnvelope } from '../../platform/crypto/encryption.js';
import { getOwner } from './connections.js';
import type { Provider } from './provider.js';
import { listProviders } from './registry.js';
import { GrantRefused, requestTokens, type Tokens } from './request-tokens.js';

interface Revocation extends EncryptedEnvelope {
  revocation_id: string;
  user_id: string;
  provider: string;
  is_expired: boolean;
}

const toRow = ({ db }: Services, revocationId: string): Promise<Revocation | undefined> =>
  db('integration_revocations')
    .where({ revocation_id: revocationId })
    .first('*', db.raw('coalesce(expires_at < now(), false) as is_expired'));

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
  const expires_at = services.db.raw('now() + make_interval(secs => ?)', [grant.expiresIn]);
  await services
    .db('integration_revocations')
    .where({ revocation_id: row.revocation_id })
    .update({ data_key: sealed.data_key, sealed_value: sealed.sealed_value, expires_at });
  return grant.tokens.access_token;
}

/**
 * Revokes the tokens of a deleted connection at its service, then deletes them. May be repeated. Returns the outcome.
 * @throws OutboundFailure | Error with our own message: the service cannot do it now
 */
export async function revokeConnection(services: Services, revocationId: string): Promise<string> {
  const row = await toRow(services, revocationId);
  if (!row) return 'nothing to do: already revoked';
  const provider = listProviders().find(({ key }) => key === row.provider);
  let outcome = 'forgotten: the service knows no way to take it back';
  if (provider?.revoke && provider.settings(services.config)) {
    try {
      await provider.revoke(services.config, await validToken(services, provider, row));
      outcome = 'taken back';
    } catch (thrown) {
      if (!(thrown instanceof GrantRefused)) throw thrown;
      outcome = 'forgotten: it was no good any more';
    }
  }
  await services.db('integration_revocations').where({ revocation_id: revocationId }).delete();
  return outcome;
}
