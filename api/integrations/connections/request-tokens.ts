import { z } from 'zod';
import { callService, isAway, parseJson, noAnswer } from './call-service.js';
import type { OAuthSettings } from './provider.js';

/** Tokens of a connection; stored encrypted. */
export interface Tokens {
  access_token: string;
  refresh_token?: string | undefined;
}

export interface Grant {
  tokens: Tokens;
  /** Null if the service does not return them: all requested scopes are granted. */
  scopes: string[] | null;
  /** Seconds; null if the token does not expire. */
  expiresIn: number | null;
}

/** The service permanently rejects this code or refresh token. */
export class GrantRefused extends Error {
  override readonly name = 'GrantRefused';
}

const Answer = z.object({
  access_token: z.string().min(1).max(16_384),
  refresh_token: z.string().min(1).max(16_384).optional(),
  expires_in: z.coerce.number().int().min(1).max(315_360_000).optional(),
  scope: z.string().max(10_000).optional(),
});

/** OAuth error response; some services send it with status 200. */
const Refusal = z.object({ error: z.string().min(1) });

/** Separated by spaces in the standard, by commas in some services. */
const splitScopes = (scope: string): string[] => scope.split(/[\s,]+/).filter((each) => each !== '');

/**
 * Requests tokens from a service (RFC 6749, sections 4.1.3 and 6).
 * @throws GrantRefused | OutboundFailure without a usable response: a temporary outage must not end a connection
 */
export async function requestTokens(
  { tokenUrl, clientId, clientSecret }: OAuthSettings,
  grant: Record<string, string>,
): Promise<Grant> {
  const form = new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret });
  const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Assent' };
  const answer = await callService({ method: 'POST', url: tokenUrl, headers, body: form.toString() });
  const { status } = answer;
  const parsed = Answer.safeParse(parseJson(answer));
  if (!parsed.success || status >= 300) {
    const isRefused = status >= 400 ? !isAway(answer) : Refusal.safeParse(parseJson(answer)).success;
    throw isRefused ? new GrantRefused(`The service answered ${status} without a token`) : noAnswer(answer);
  }
  const { access_token, refresh_token, expires_in, scope } = parsed.data;
  return {
    tokens: { access_token, refresh_token },
    scopes: scope === undefined ? null : splitScopes(scope),
    expiresIn: expires_in ?? null,
  };
}
