import type { Services } from '../core/context.js';
import { type EncryptedEnvelope, decryptEnvelope, encryptEnvelope } from '../core/crypto/encryption.js';
import { ownerOf } from './connections.js';
import type { Provider } from './provider.js';
import { listProviders } from './registry.js';
import { GrantRefused, requestTokens, type Tokens } from './request-tokens.js';

interface Revocation extends EncryptedEnvelope {
  revocation_id: string;
  user_id: string;
  provider: string;
  is_expired: boolean;
}

const rowOf = ({ db }: Services, revocationId: string): Promise<Revocation | undefined> =>
  db('integration_revocations')
    .where({ revocation_id: revocationId })
    .first('*', db.raw('coalesce(expires_at < now(), false) as is_expired'));

/**
 * The token that is still good. One that ran out is renewed first: a service takes back only what it knows, and what renews it would
 * stay good. The new ones are kept, for what renewed them is good once. @throws GrantRefused | OutboundFailure
 */
async function goodToken(services: Services, provider: Provider, row: Revocation): Promise<string> {
  const owner = ownerOf(row.user_id, row.provider);
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
 * Has the service take back the tokens of a connection that was ended, and forgets them. May be repeated. Says what came of it.
 * @throws OutboundFailure | Error in words of ours: the service could not do it now
 * Source: decision F13.
 */
export async function revokeConnection(services: Services, revocationId: string): Promise<string> {
  const row = await rowOf(services, revocationId);
  if (!row) return 'nothing to do: taken back already';
  const provider = listProviders().find(({ key }) => key === row.provider);
  let said = 'forgotten: the service knows no way to take it back';
  if (provider?.revoke && provider.settings(services.config)) {
    try {
      await provider.revoke(services.config, await goodToken(services, provider, row));
      said = 'taken back';
    } catch (thrown) {
      if (!(thrown instanceof GrantRefused)) throw thrown;
      said = 'forgotten: it was no good any more';
    }
  }
  await services.db('integration_revocations').where({ revocation_id: revocationId }).delete();
  return said;
}
