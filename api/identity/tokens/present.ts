import type { TokenRecord } from './schema.js';

/** A token as `TOKEN_COLUMNS` selects it. */
export interface TokenRow extends Record<string, unknown> {
  token_id: string;
  name: string;
  scopes: string[];
  strict: boolean;
  mcp_only: boolean;
  prefix: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  status: TokenRecord['status'];
}

/** Status by the database's clock; `revoked` wins over `expired`. */
export const TOKEN_COLUMNS = /* sql */ `token_id, name, scopes, strict, mcp_only, prefix, created_at, expires_at, last_used_at,
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as status`;

/** Returns the masked token. */
export const present = ({ created_at, expires_at, last_used_at, ...row }: TokenRow): TokenRecord => ({
  token_id: row.token_id,
  name: row.name,
  scopes: row.scopes,
  strict: row.strict,
  mcp_only: row.mcp_only,
  prefix: row.prefix,
  token_prefix: row.prefix,
  created_at: created_at.toISOString(),
  expires_at: expires_at?.toISOString() ?? null,
  last_used_at: last_used_at?.toISOString() ?? null,
  revoked: row.status === 'revoked',
  status: row.status,
});
