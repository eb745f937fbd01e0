import { z } from 'zod';
import { Id, Timestamp, Title } from '../../platform/fields.js';
import { SCOPES } from '../../platform/access/scopes.js';

const scopeKeys = Object.keys(SCOPES);
/** The operation checks the values, because an unknown scope returns 400, not 422. The document lists them all the same. */
const Scopes = z
  .array(z.string())
  .max(1_000)
  .meta({ override: { type: 'array', items: { type: 'string', enum: scopeKeys }, minItems: 1 } });

export const CreateToken = z
  .object({
    name: Title(200),
    scopes: Scopes,
    strict: z.boolean().nullish().meta({
      description:
        'true: every route checks the token’s scopes. Default: writes of projects and tasks, decisions, replays and the vault do; elsewhere the token may do whatever its owner may',
    }),
    mcp_only: z.boolean().nullish().meta({
      description:
        'true: a token for an outside agent. It works only at `/api/mcp`, where nothing can be written, and at `/api/mcp/gateway/…`, where the policies of the team decide what is called',
    }),
    expires_in_days: z.int().min(0).max(3650).nullish().meta({ description: '0 or null: never expires; default 90' }),
  })
  .meta({ id: 'CreateToken' });
export type CreateToken = z.output<typeof CreateToken>;

export const TokenParams = z.object({ token_id: Id });

const masked = { description: 'Masked prefix of the secret' };
const tokenFields = {
  token_id: z.string().meta({ description: 'Id for paths; not the secret' }),
  name: z.string(),
  scopes: z.array(z.string()),
  strict: z.boolean().meta({ description: 'Every route checks its scopes' }),
  mcp_only: z.boolean().meta({ description: 'It works at `/api/mcp` and `/api/mcp/gateway/…` only' }),
  prefix: z.string().meta(masked),
  token_prefix: z.string().meta(masked),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().meta({ description: 'null: never' }),
  last_used_at: Timestamp.nullable(),
  revoked: z.boolean(),
  status: z.enum(['active', 'expired', 'revoked']),
};
const TokenRecord = z.object(tokenFields).meta({ id: 'Token' });
export type TokenRecord = z.output<typeof TokenRecord>;

export const CreatedToken = z
  .object({ ...tokenFields, token: z.string().meta({ description: 'The secret; only this response contains it' }) })
  .meta({ id: 'CreatedToken' });
export type CreatedToken = z.output<typeof CreatedToken>;

export const TokenList = z.object({ tokens: z.array(TokenRecord) }).meta({ id: 'TokenList' });
export const ScopeList = z
  .object({ scopes: z.array(z.object({ key: z.string(), label: z.string() })) })
  .meta({ id: 'ScopeList' });
export const RevokedToken = z
  .object({ success: z.boolean(), token_id: z.string(), revoked: z.boolean() })
  .meta({ id: 'RevokedToken' });
