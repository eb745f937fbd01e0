import { SCOPES } from '../core/scopes.js';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { createToken } from './create-token.js';
import { listTokens } from './list-tokens.js';
import { revokeToken } from './revoke-token.js';
import { CreatedToken, CreateToken, RevokedToken, ScopeList, TokenList, TokenParams } from './schema.js';

const tag = 'Tokens';

export const tokenRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/auth/tokens',
    tag,
    summary: 'Make a personal access token',
    description:
      'The answer is the only one that ever holds the secret. At most 50 active tokens a person. With `strict: true` every route asks the token for its scope; without it only the seven routes that answer `X-Scope-Enforced: true` do, and elsewhere the token may do whatever its owner may. What an automation does is done with its creator’s rights: a token with `automations:write` may write one.',
    ability: 'token.create',
    body: CreateToken,
    response: CreatedToken,
    status: 201,
    storable: false,
    example: { name: 'CI of acme/rocket', scopes: ['tasks:read', 'tasks:write'], strict: true, expires_in_days: 30 },
    handle: ({ ctx, body }) => createToken(ctx, body),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/tokens',
    tag,
    summary: 'List one’s tokens',
    description: 'Newest first, revoked and expired ones too; never with a secret.',
    ability: 'token.read',
    response: TokenList,
    handle: async ({ ctx }) => ({ tokens: await listTokens(ctx) }),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/tokens/scopes',
    tag,
    summary: 'List the scopes a token may have',
    ability: 'token.read',
    response: ScopeList,
    handle: async () => ({ scopes: Object.entries(SCOPES).map(([key, label]) => ({ key, label })) }),
  }),
  endpoint({
    method: 'delete',
    path: '/api/auth/tokens/:token_id',
    tag,
    summary: 'Revoke a token',
    description: 'At once and for good: the next request with it is refused. Again, it changes nothing.',
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
