import { z } from 'zod';
import { callService, jsonOf } from './call-service.js';
import type { OAuthSettings } from './provider.js';

/** What is kept of a connection, encrypted. */
export interface Tokens {
  access_token: string;
  refresh_token?: string | undefined;
}

export interface Grant {
  tokens: Tokens;
  /** Null where the service does not say: then what was asked for was granted. */
  scopes: string[] | null;
  /** Seconds; null where the token does not expire. */
  expiresIn: number | null;
}

/** The service does not give out tokens for this code or this refresh token, now or later. */
export class GrantRefused extends Error {
  override readonly name = 'GrantRefused';
}

const Answer = z.object({
  access_token: z.string().min(1).max(16_384),
  refresh_token: z.string().min(1).max(16_384).optional(),
  expires_in: z.coerce.number().int().min(1).max(315_360_000).optional(),
  scope: z.string().max(10_000).optional(),
});

/** Space-separated by the standard, with commas by some. */
const scopesOf = (scope: string): string[] => scope.split(/[\s,]+/).filter((each) => each !== '');

/**
 * Asks a service for tokens (RFC 6749, 4.1.3 and 6).
 * @throws GrantRefused | OutboundFailure when there was no answer, or not one that says anything
 */
export async function requestTokens(
  { tokenUrl, clientId, clientSecret }: OAuthSettings,
  grant: Record<string, string>,
): Promise<Grant> {
  const form = new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret });
  const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Assent' };
  const answer = await callService({ method: 'POST', url: tokenUrl, headers, body: form.toString() });
  const parsed = Answer.safeParse(jsonOf(answer));
  // Some services answer 200 with an error in it.
  if (!parsed.success || answer.status >= 300) throw new GrantRefused(`The service answered ${answer.status} without a token`);
  const { access_token, refresh_token, expires_in, scope } = parsed.data;
  return {
    tokens: { access_token, refresh_token },
    scopes: scope === undefined ? null : scopesOf(scope),
    expiresIn: expires_in ?? null,
  };
}
