import { z } from 'zod';
import { webAddress } from '../../../platform/config.js';
import { Title } from '../../../platform/fields.js';
import { SCOPES } from '../../../platform/access/scopes.js';
import { createToken } from '../../../identity/tokens/create-token.js';
import { listTokens } from '../../../identity/tokens/list-tokens.js';
import { revokeToken } from '../../../identity/tokens/revoke-token.js';
import { TokenParams } from '../../../identity/tokens/schema.js';
import { page, type Page, type FormError, type View, type PageRequest } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

/** Lifetimes to choose from, in days; 0 = no expiry. */
const LIVES = [7, 30, 90, 180, 365, 0];

/** A check box. */
const Box = z
  .literal('on')
  .optional()
  .transform((value) => value === 'on');

/** Check boxes: one is sent as a string, several as a list, none as nothing. */
const Checked = z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(z.string()));

async function show(ctx: PageRequest['ctx'], problem?: FormError, given: Fields = {}): Promise<View> {
  const chosen = Checked.safeParse(given['scopes']).data ?? [];
  const tokens = await listTokens(ctx);
  // Checked by default.
  const strict = problem === undefined || given['strict'] === 'on';
  const allStrict = ctx.config.PAT_SCOPE_ENFORCEMENT === 'strict';
  const data = {
    strict,
    allStrict,
    tokens,
    scopes: Object.entries(SCOPES),
    chosen,
    lives: LIVES,
    problem,
    given,
  };
  return { view: 'account/tokens', title: 'Access tokens', data };
}

export const tokenPages: Page[] = [
  page({ method: 'get', path: '/app/account/tokens', access: 'token.read', handle: ({ ctx }) => show(ctx) }),
  page({
    method: 'post',
    path: '/app/account/tokens',
    access: 'token.create',
    form: z.object({
      name: Title(200),
      scopes: Checked.pipe(z.array(z.string()).min(1, 'Choose at least one scope')),
      strict: Box,
      mcp_only: Box,
      expires_in_days: z
        .string()
        .regex(/^\d{1,4}$/, 'Enter a number of days')
        .transform(Number)
        .pipe(z.number().max(3650, 'At most 3650 days')),
    }),
    /** Shown once, in this response: a redirect would have to store the secret. */
    handle: async ({ ctx, form }) => ({
      view: 'account/token-created',
      title: 'Your new token',
      data: { token: await createToken(ctx, form), mcpUrl: webAddress(ctx.config, '/api/mcp') },
    }),
    onError: ({ ctx, form }, problem) => show(ctx, problem, form),
  }),
  page({
    method: 'post',
    path: '/app/account/tokens/:token_id/revoke',
    access: 'token.revoke',
    params: TokenParams,
    async handle({ ctx, params }) {
      await revokeToken(ctx, params.token_id);
      return { to: '/app/account/tokens', notice: { kind: 'good', text: 'Token revoked.' } };
    },
  }),
];
