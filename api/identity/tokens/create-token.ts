import { randomBytes } from 'node:crypto';
import { defineStatement, run } from '../../../db/statement.js';
import { computeHash, PAT_PREFIX } from '../auth/authenticate.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { present, TOKEN_COLUMNS, type TokenRow } from './present.js';
import type { CreatedToken, CreateToken } from './schema.js';

/** Active tokens per user; expired and revoked ones do not count (docs/decisions/identity.md#token-limits). */
const MAX_ACTIVE_TOKENS = 50;

/** $1 = owner id. Serializes the creation of a user's tokens, so the limit holds. */
const lockOwner = defineStatement({
  name: 'lock_token_owner',
  text: 'select from users where user_id = $1 for no key update',
});

/**
 * $1 = owner id, $2 = name, $3 = scopes, $4 = SHA-256 of the secret, $5 = masked prefix, $6 = days or null, $7 = strict, $8 = for the
 * MCP endpoint only. No row: too many active tokens.
 */
const insertStatement = defineStatement({
  name: 'insert_token',
  text: /* sql */ `
    insert into personal_access_tokens (user_id, name, scopes, token_hash, prefix, expires_at, strict, mcp_only)
    select $1, $2, $3::text[], $4, $5, now() + make_interval(days => $6::int), $7::boolean, $8::boolean
    where (select count(*) from personal_access_tokens
      where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())) < ${MAX_ACTIVE_TOKENS}
    returning ${TOKEN_COLUMNS}`,
});

/** @throws INVALID_REQUEST no scope, or an unknown one */
function checkScopes(given: string[]): string[] {
  const scopes = [...new Set(given)];
  if (scopes.length === 0) throw invalid('At least one scope is required');
  const unknown = scopes.find((scope) => !Object.hasOwn(SCOPES, scope));
  if (unknown !== undefined) {
    throw invalid(`Unknown scope: ${unknown.slice(0, 100)}`, { detail: `Scopes: ${Object.keys(SCOPES).join(', ')}` });
  }
  return scopes;
}

/**
 * Creates a personal access token for the caller. The secret is only in this response; its SHA-256 is stored.
 * @throws INVALID_REQUEST no scope, an unknown one, or 50 active tokens already
 */
export function createToken(
  ctx: Context,
  { name, scopes: given, expires_in_days, ...input }: CreateToken,
): Promise<CreatedToken> {
  const scopes = checkScopes(given);
  const strict = input.strict ?? false;
  const mcp_only = input.mcp_only ?? false;
  const days = expires_in_days === undefined ? ctx.config.PAT_DEFAULT_DAYS : expires_in_days || null;
  const secret = `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`;
  const prefix = `${secret.slice(0, PAT_PREFIX.length + 4)}...`;
  return inTransaction(ctx, async (ctx) => {
    const userId = requireUser(ctx);
    await run(ctx.db, lockOwner, [userId]);
    const values = [userId, name, scopes, computeHash(secret), prefix, days, strict, mcp_only];
    const [row] = await run<TokenRow>(ctx.db, insertStatement, values);
    if (!row) throw invalid(`At most ${MAX_ACTIVE_TOKENS} tokens can be active; revoke one first`);
    await recordChange(ctx, {
      team_id: null,
      feature: 'tokens',
      action: 'create',
      severity: 'HIGH',
      entity_type: 'token',
      entity_id: row.token_id,
      details: { name, scopes, strict, mcp_only, expires_at: row.expires_at?.toISOString() ?? null },
    });
    return { ...present(row), token: secret };
  });
}
