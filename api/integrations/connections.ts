import { run, type Statement } from '../../db/statement.js';
import { ActionRefused } from '../automations/actions/action-refused.js';
import type { Context, Services } from '../core/context.js';
import { type Enveloped, openEnvelope, sealInEnvelope } from '../core/seal.js';
import type { Provider } from './provider.js';
import { type Grant, GrantRefused, requestTokens, type Tokens } from './request-tokens.js';

/** One person's connection to one service. */
export interface Connection extends Enveloped, Record<string, unknown> {
  user_id: string;
  provider: string;
  account: string;
  scopes: string[];
  /** The token has run out, or will within a minute. */
  is_stale: boolean;
}

const ownerOf = (userId: string, provider: string): string => `${userId}/${provider}`;

/** $1 person. */
const listStatement: Statement = {
  name: 'list_connections',
  text: /* sql */ `
    select *, coalesce(expires_at < now() + interval '1 minute', false) as is_stale from integration_connections where user_id = $1`,
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
      sealed_value = excluded.sealed_value, expires_at = excluded.expires_at, connected_at = now(), updated_at = now()`,
};

/** Stores a connection, in place of the one that the person had with the service. */
export async function saveConnection(
  ctx: Context,
  key: { userId: string; provider: string; account: string; scopes: string[] },
  grant: Grant,
): Promise<void> {
  const { userId, provider, account, scopes } = key;
  const sealed = sealInEnvelope(ctx.config, ownerOf(userId, provider), JSON.stringify(grant.tokens));
  const values = [userId, provider, account, scopes, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(ctx.db, saveStatement, values);
}

/** $1 person, $2 service, $3 the tokens before, $4 data key, $5 tokens, $6 seconds or null. Whoever was first wins. */
const refreshStatement: Statement = {
  name: 'refresh_connection',
  text: /* sql */ `
    update integration_connections set data_key = $4, sealed_value = $5, expires_at = now() + make_interval(secs => $6), updated_at = now()
    where user_id = $1 and provider = $2 and sealed_value = $3`,
};

const tokensOf = ({ config }: Pick<Services, 'config'>, connection: Connection): Tokens =>
  JSON.parse(openEnvelope(config, ownerOf(connection.user_id, connection.provider), connection)) as Tokens;

/** New tokens for those that run out. @throws GrantRefused | OutboundFailure */
async function refresh(services: Services, provider: Provider, connection: Connection, refreshToken: string): Promise<Tokens> {
  const settings = provider.settings(services.config);
  if (!settings) throw new GrantRefused('The installation has no client there any more');
  const grant = await requestTokens(settings, { grant_type: 'refresh_token', refresh_token: refreshToken });
  // A service that gives no new refresh token leaves the old one good.
  const tokens = { ...grant.tokens, refresh_token: grant.tokens.refresh_token ?? refreshToken };
  const { user_id, sealed_value } = connection;
  const sealed = sealInEnvelope(services.config, ownerOf(user_id, provider.key), JSON.stringify(tokens));
  const values = [user_id, provider.key, sealed_value, sealed.data_key, sealed.sealed_value, grant.expiresIn];
  await run(services.db, refreshStatement, values);
  return tokens;
}

/** Passing, because the one that renewed it first may be about to store what it got. */
const disconnected = ({ label }: Provider) =>
  new ActionRefused(
    { code: 'integration_disconnected', message: `${label} does not accept the connection any more: connect again` },
    true,
  );

/** Forgets every connection of somebody who leaves for good. Returns how many there were. */
export const forgetConnectionsOf = ({ db }: Pick<Services, 'db'>, userId: string): Promise<number> =>
  db('integration_connections').where({ user_id: userId }).delete();

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
  const tokens = tokensOf(services, connection);
  if (!connection.is_stale || !tokens.refresh_token) return tokens.access_token;
  try {
    return (await refresh(services, provider, connection, tokens.refresh_token)).access_token;
  } catch (thrown) {
    if (!(thrown instanceof GrantRefused)) throw thrown;
    // Another action renewed it at the same time, and used up the token that both had.
    const now = (await connectionsOf(services, userId)).get(provider.key);
    if (now && !now.sealed_value.equals(connection.sealed_value)) return tokensOf(services, now).access_token;
    throw disconnected(provider);
  }
}
