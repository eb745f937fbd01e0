import { run, type Statement } from '../../db/statement.js';
import { ActionRefused } from '../actions/action-refused.js';
import type { Context, Services } from '../core/context.js';
import { type EncryptedEnvelope, decryptEnvelope, encryptEnvelope } from '../core/crypto/encryption.js';
import { endConnections } from './end-connections.js';
import type { Provider } from './provider.js';
import { type Grant, GrantRefused, requestTokens, type Tokens } from './request-tokens.js';

/** One person's connection to one service. */
export interface Connection extends EncryptedEnvelope, Record<string, unknown> {
  user_id: string;
  provider: string;
  account: string;
  scopes: string[];
  /** The token has run out; `is_stale`: it has, or will within five minutes. */
  is_expired: boolean;
  is_stale: boolean;
}

/** What tokens are bound to. */
export const ownerOf = (userId: string, provider: string): string => `${userId}/${provider}`;

/** $1 person. */
const listStatement: Statement = {
  name: 'list_connections',
  text: /* sql */ `
    select *, coalesce(expires_at < now(), false) as is_expired, coalesce(expires_at < now() + interval '5 minutes', false) as is_stale
    from integration_connections where user_id = $1`,
};

/** The connections of a person, by the service's key. */
export async function connectionsOf({ db }: Pick<Services, 'db'>, userId: string): Promise<Map<string, Connection>> {
  const rows = await run<Connection>(db, listStatement, [userId]);
  return new Map(rows.map((row) => [row.provider, row]));
}

/** $1 person, $2 service, $3 account, $4 scopes, $5 data key, $6 tokens, $7 seconds until they run out or null. */
const saveStatement: Statement = {
  name: 'save_connection',
  text: /* sql */ `
    insert into integration_connections (user_id, provider, account, scopes, data_key, sealed_value, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
    on conflict (user_id, provider) do update set account = excluded.account, scopes = excluded.scopes, data_key = excluded.data_key,
      sealed_value = excluded.sealed_value, expires_at = excluded.expires_at, refresh_lease_until = null, connected_at = now(), updated_at = now()`,
};

/** Stores a connection, in place of the one that the person had with the service, whose tokens are taken back. */
export async function saveConnection(
  ctx: Context,
  key: { userId: string; provider: string; account: string; scopes: string[] },
  grant: Grant,
): Promise<void> {
  const { userId, provider, account, scopes } = key;
  await endConnections(ctx, userId, provider);
  const sealed = encryptEnvelope(ctx.config, ownerOf(userId, provider), JSON.stringify(grant.tokens));
  const values = [userId, provider, account, scopes, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(ctx.db, saveStatement, values);
}

/** Seconds that a renewal may take before somebody else may try. */
const LEASE = 30;

/** $1 person, $2 service, $3 the tokens before. A row for the one that renews them. */
const leaseStatement: Statement = {
  name: 'lease_renewal',
  text: /* sql */ `
    update integration_connections set refresh_lease_until = now() + make_interval(secs => ${LEASE})
    where user_id = $1 and provider = $2 and sealed_value = $3 and (refresh_lease_until is null or refresh_lease_until < now()) returning 1`,
};

/** The same. */
const releaseStatement: Statement = {
  name: 'release_renewal',
  text: `update integration_connections set refresh_lease_until = null where user_id = $1 and provider = $2 and sealed_value = $3`,
};

/** $1 person, $2 service, $3 the tokens before, $4 data key, $5 tokens, $6 seconds or null. A connection made anew meanwhile stays. */
const refreshStatement: Statement = {
  name: 'refresh_connection',
  text: /* sql */ `
    update integration_connections set data_key = $4, sealed_value = $5, expires_at = now() + make_interval(secs => $6),
      refresh_lease_until = null, updated_at = now()
    where user_id = $1 and provider = $2 and sealed_value = $3`,
};

const tokensOf = ({ config }: Pick<Services, 'config'>, connection: Connection): Tokens =>
  JSON.parse(decryptEnvelope(config, ownerOf(connection.user_id, connection.provider), connection)) as Tokens;

/** New tokens, stored in place of the old ones. @throws GrantRefused | OutboundFailure */
async function renew(services: Services, provider: Provider, connection: Connection, refreshToken: string): Promise<Tokens> {
  const settings = provider.settings(services.config);
  if (!settings) throw new GrantRefused('The installation has no client there any more');
  const grant = await requestTokens(settings, { grant_type: 'refresh_token', refresh_token: refreshToken });
  // A service that gives no new refresh token leaves the old one good.
  const tokens = { ...grant.tokens, refresh_token: grant.tokens.refresh_token ?? refreshToken };
  const { user_id, sealed_value } = connection;
  const sealed = encryptEnvelope(services.config, ownerOf(user_id, provider.key), JSON.stringify(tokens));
  const values = [user_id, provider.key, sealed_value, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(services.db, refreshStatement, values);
  return tokens;
}

/**
 * The token of a connection that runs out: renewed by one process at a time, while the others go on with what is still good.
 * @throws ActionRefused somebody else renews it at this moment (passing), or the service does not renew it | OutboundFailure
 */
async function freshToken(services: Services, provider: Provider, connection: Connection, tokens: Tokens): Promise<string> {
  if (!connection.is_stale || !tokens.refresh_token) return tokens.access_token;
  const lease = [connection.user_id, provider.key, connection.sealed_value];
  if ((await run(services.db, leaseStatement, lease)).length === 0) {
    if (!connection.is_expired) return tokens.access_token;
    const message = `The connection to ${provider.label} is being renewed`;
    throw new ActionRefused({ code: 'integration_renewing', message }, true);
  }
  try {
    return (await renew(services, provider, connection, tokens.refresh_token)).access_token;
  } catch (thrown) {
    await run(services.db, releaseStatement, lease); // the next attempt need not wait for it
    if (!(thrown instanceof GrantRefused)) throw thrown;
    const message = `${provider.label} does not accept the connection any more: connect again`;
    throw new ActionRefused({ code: 'integration_disconnected', message });
  }
}

/**
 * The token by which an automation acts at a service: its creator's, renewed where it ran out and the service allows it.
 * @throws ActionRefused not connected, not allowed enough, or not accepted any more | OutboundFailure
 */
export async function accessToken(
  services: Services,
  provider: Provider,
  userId: string,
  scopes: readonly string[],
): Promise<string> {
  const connection = (await connectionsOf(services, userId)).get(provider.key);
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
      message: `The connection to ${provider.label} lacks: ${missing.join(', ')}`,
    });
  }
  return freshToken(services, provider, connection, tokensOf(services, connection));
}
