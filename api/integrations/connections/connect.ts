import { createHash, randomBytes } from 'node:crypto';
import { defineStatement, run } from '../../../db/statement.js';
import { webAddress } from '../../platform/config.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { encryptField } from '../../platform/crypto/encryption.js';
import { findProvider } from './registry.js';
import { recordConnection } from './record-connection.js';
import type { Connect } from './schema.js';

/** Minutes that the user has at the service. */
const MINUTES = 10;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
/** The state is a credential, so the database stores its hash. */
export const stateHash = sha256;
export const redirectUri = ({ config }: Pick<Context, 'config'>, key: string): string =>
  webAddress(config, `/api/integrations/${key}/callback`);

/** $1 = hash of the state, $2 = user id, $3 = provider, $4 = verifier. Deletes expired requests. */
const requestStatement = defineStatement({
  name: 'request_integration',
  text: /* sql */ `
    with expired as (delete from integration_requests where expires_at < now())
    insert into integration_requests (state_hash, user_id, provider, sealed_verifier, expires_at)
    values ($1, $2, $3, $4, now() + make_interval(mins => ${MINUTES}))`,
});

/**
 * Starts a connection and returns the service's address where the caller grants access. The state in it works once, within ten
 * minutes, for this user and this service; the verifier stays on the server (RFC 7636).
 * @throws RESOURCE_NOT_FOUND no such service | RESOURCE_CONFLICT the installation has no OAuth client there
 */
export function connect(ctx: Context, key: string, { scopes }: Connect): Promise<string> {
  const provider = findProvider(key);
  const settings = provider.settings(ctx.config);
  if (!settings) throw conflict(`No OAuth client configured for ${provider.label}`);
  const requested = scopes ?? provider.scopes;
  return inTransaction(ctx, async (ctx) => {
    const userId = requireUser(ctx);
    const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
    const secret = JSON.stringify({ verifier, scopes: requested });
    const sealed = encryptField(ctx.config, 'vault', `${userId}/${key}`, secret);
    await run(ctx.db, requestStatement, [stateHash(state), userId, key, sealed]);
    await recordConnection(ctx, key, 'stage', { scopes: requested });
    const url = new URL(settings.authorizeUrl);
    const query = {
      response_type: 'code',
      client_id: settings.clientId,
      redirect_uri: redirectUri(ctx, key),
      scope: requested.join(' '),
      state,
      code_challenge: sha256(verifier).toString('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  });
}
