import { defineStatement, run } from '../../../db/statement.js';
import { ActionRefused } from '../../gate/contract/action-refused.js';
import type { Context, Services } from '../../platform/context.js';
import { type EncryptedEnvelope, decryptEnvelope, encryptEnvelope } from '../../platform/crypto/encryption.js';
import { endConnections } from './end-connections.js';
import type { Provider } from './provider.js';
import { type Grant, GrantRefused, requestTokens, type Tokens } from './request-tokens.js';

/** One user's connection to one service. */
export interface Connection extends EncryptedEnvelope, Record<string, unknown> {
  user_id: string;
  provider: string;
  account: string;
  scopes: string[];
  /** `is_expired`: the token has expired; `is_stale`: it has, or will within five minutes. */
  is_expired: boolean;
  is_stale: boolean;
}

/** Owner to which the encrypted tokens are bound. */
export const getOwner = (userId: string, provider: string): string => `${userId}/${provider}`;

/** $1 = user id. */
const listStatement = defineStatement({
  name: 'list_connections',
  text: /* sql */ `
    select *, coalesce(expires_at < now(), false) as is_expired, coalesce(expires_at < now() + interval '5 minutes', false) as is_stale
    from integration_connections where user_id = $1`,
});

/** Returns a user's connections by provider key. */
export async function findConnections({ db }: Pick<Services, 'db'>, userId: string): Promise<Map<string, Connection>> {
  const rows = await run<Connection>(db, listStatement, [userId]);
  return new Map(rows.map((row) => [row.provider, row]));
}

/**
 * $1 = user id, $2 = provider, $3 = account, $4 = scopes, $5 = data key, $6 = tokens, $7 = seconds until they expire, or null.
 */
const saveStatement = defineStatement({
  name: 'save_connection',
  text: /* sql */ `
    insert into integration_connections (user_id, provider, account, scopes, data_key, sealed_value, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
    on conflict (user_id, provider) do update set account = excluded.account, scopes = excluded.scopes, data_key = excluded.data_key,
      sealed_value = excluded.sealed_value, expires_at = excluded.expires_at, refresh_lease_until = null, connected_at = now(), updated_at = now()`,
});

/** Stores a connection. Replaces the user's previous one with the service, whose tokens are revoked. */
export async function saveConnection(
  ctx: Context,
  key: { userId: string; provider: string; account: string; scopes: string[] },
  grant: Grant,
): Promise<void> {
  const { userId, provider, account, scopes } = key;
  await endConnections(ctx, userId, provider);
  const sealed = encryptEnvelope(ctx.config, getOwner(userId, provider), JSON.stringify(grant.tokens));
  const values = [userId, provider, account, scopes, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(ctx.db, saveStatement, values);
}

/** Seconds until another process may take over a renewal. */
const LEASE = 30;

/** $1 = user id, $2 = provider, $3 = previous tokens. Returns a row to the process that renews them. */
const leaseStatement = defineStatement({
  name: 'lease_renewal',
  text: /* sql */ `
    update integration_connections set refresh_lease_until = now() + make_interval(secs => ${LEASE})
    where user_id = $1 and provider = $2 and sealed_value = $3 and (refresh_lease_until is null or refresh_lease_until < now()) returning 1`,
});

/** $1 = user id, $2 = provider, $3 = previous tokens. */
const releaseStatement = defineStatement({
  name: 'release_renewal',
  text: `update integration_connections set refresh_lease_until = null where user_id = $1 and provider = $2 and sealed_value = $3`,
});

/**
 * $1 = user id, $2 = provider, $3 = previous tokens, $4 = data key, $5 = tokens, $6 = seconds or null. Does not overwrite a
 * connection created in between.
 */
const refreshStatement = defineStatement({
  name: 'refresh_connection',
  text: /* sql */ `
    update integration_connections set data_key = $4, sealed_value = $5, expires_at = now() + make_interval(secs => $6),
      refresh_lease_until = null, updated_at = now()
    where user_id = $1 and provider = $2 and sealed_value = $3`,
});

const openTokens = ({ config }: Pick<Services, 'config'>, connection: Connection): Tokens =>
  JSON.parse(decryptEnvelope(config, getOwner(connection.user_id, connection.provider), connection)) as Tokens;

/**
 * Renews the tokens and stores the new ones.
 * @throws GrantRefused | OutboundFailure
 */
async function renew(services: Services, provider: Provider, connection: Connection, refreshToken: string): Promise<Tokens> {
  const settings = provider.settings(services.config);
  if (!settings) throw new GrantRefused('The installation has no client there any more');
  const grant = await requestTokens(settings, { grant_type: 'refresh_token', refresh_token: refreshToken });
  // Without a new refresh token, the old one stays valid.
  const tokens = { ...grant.tokens, refresh_token: grant.tokens.refresh_token ?? refreshToken };
  const { user_id, sealed_value } = connection;
  const sealed = encryptEnvelope(services.config, getOwner(user_id, provider.key), JSON.stringify(tokens));
  const values = [user_id, provider.key, sealed_value, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(services.db, refreshStatement, values);
  return tokens;
}

/**
 * Returns a valid token, renewed by one process at a time; the others use the old one while it is valid.
 * @throws ActionRefused another process is renewing it (retryable), or the service does not renew it | OutboundFailure
 */
async function freshToken(services: Services, provider: Provider, connection: Connection, tokens: Tokens): Promise<string> {
  if (!connection.is_stale || !tokens.refresh_token) return tokens.access_token;
  const lease = [connection.user_id, provider.key, connection.sealed_value];
  if ((await run(services.db, leaseStatement, lease)).length === 0) {
    if (!connection.is_expired) return tokens.access_token;
    const message = `The connection to ${provider.label} is being refreshed`;
    throw new ActionRefused({ code: 'integration_renewing', message }, true);
  }
  try {
    return (await renew(services, provider, connection, tokens.refresh_token)).access_token;
  } catch (thrown) {
    await run(services.db, releaseStatement, lease); // lets the next attempt renew at once
    if (!(thrown instanceof GrantRefused)) throw thrown;
    const message = `${provider.label} no longer accepts the connection: connect again`;
    throw new ActionRefused({ code: 'integration_disconnected', message });
  }
}

/**
 * Returns the creator's token for a service, renewed if necessary.
 * @throws ActionRefused not connected, scopes missing, or no longer accepted | OutboundFailure
 */
export async function accessToken(
  services: Services,
  provider: Provider,
  userId: string,
  scopes: readonly string[],
): Promise<string> {
  const connection = (await findConnections(services, userId)).get(provider.key);
  if (!connection) {
    throw new ActionRefused({
      code: 'integration_not_connected',
      message: `The automation’s creator has not connected ${provider.label}`,
    });
  }
  const missing = scopes.filter((scope) => !connection.scopes.includes(scope));
  if (missing.length > 0) {
    throw new ActionRefused({
      code: 'missing_scopes',
      message: `The connection to ${provider.label} lacks scopes: ${missing.join(', ')}`,
    });
  }
  return freshToken(services, provider, connection, openTokens(services, connection));
}
