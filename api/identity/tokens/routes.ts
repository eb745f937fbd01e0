import { SCOPES } from '../../platform/access/scopes.js';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { createToken } from './create-token.js';
import { listTokens } from './list-tokens.js';
import { revokeToken } from './revoke-token.js';
import { CreatedToken, CreateToken, RevokedToken, ScopeList, TokenList, TokenParams } from './schema.js';

const tag = 'Tokens';

export const tokenRoutes: Endpoint[] = [
  endpoint({
    id: 'createToken',
    method: 'post',
    path: '/api/auth/tokens',
    tag,
    summary: 'Create a personal access token',
    description:
      'Only this response contains the secret. At most 50 active tokens per user. With `strict: true` every route checks the token’s scopes; otherwise only the routes with `X-Scope-Enforced: true` do: writes of projects and tasks, decisions of approvals and plans, replays, and the vault. Elsewhere the token may do whatever its owner may. With `mcp_only: true` the token is for an outside agent: it works at `/api/mcp` and at `/api/mcp/gateway/…` only and is a 403 everywhere else. Automations act with all rights of their creator: a token with `automations:write` may create one.',
    ability: 'token.create',
    body: CreateToken,
    response: CreatedToken,
    status: 201,
    storable: false,
    example: { name: 'CI of acme/rocket', scopes: ['tasks:read', 'tasks:write'], strict: true, expires_in_days: 30 },
    handle: ({ ctx, body }) => createToken(ctx, body),
  }),
  endpoint({
    id: 'listTokens',
    method: 'get',
    path: '/api/auth/tokens',
    tag,
    summary: 'List personal access tokens',
    description: 'Newest first, including revoked and expired tokens; without secrets.',
    ability: 'token.read',
    response: TokenList,
    handle: async ({ ctx }) => ({ tokens: await listTokens(ctx) }),
  }),
  endpoint({
    id: 'listScopes',
    method: 'get',
    path: '/api/auth/tokens/scopes',
    tag,
    summary: 'List token scopes',
    ability: 'token.read',
    response: ScopeList,
    handle: async () => ({ scopes: Object.entries(SCOPES).map(([key, label]) => ({ key, label })) }),
  }),
  endpoint({
    id: 'revokeToken',
    method: 'delete',
    path: '/api/auth/tokens/:token_id',
    tag,
    summary: 'Revoke a personal access token',
    description: 'Immediate and permanent: the next request with it is a 401. Revoking again changes nothing.',
    ability: 'token.revoke',
    params: TokenParams,
    response: RevokedToken,
    errors: [404],
    async handle({ ctx, params }) {
      await revokeToken(ctx, params.token_id);
      return { success: true, token_id: params.token_id, revoked: true };
    },
  }),
];
