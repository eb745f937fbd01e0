import { z } from 'zod';
import { callService, isAway, jsonOf, noAnswer } from './call-service.js';
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

/** Words of the standard that say no; some services say them with 200. */
const Refusal = z.object({ error: z.string().min(1) });

/** Space-separated by the standard, with commas by some. */
const scopesOf = (scope: string): string[] => scope.split(/[\s,]+/).filter((each) => each !== '');

/**
 * Asks a service for tokens (RFC 6749, 4.1.3 and 6).
 * @throws GrantRefused | OutboundFailure when there was no answer, or not one that says anything: a service that is away for a moment
 * takes nobody's connection back
 */
export async function requestTokens(
  { tokenUrl, clientId, clientSecret }: OAuthSettings,
  grant: Record<string, string>,
): Promise<Grant> {
  const form = new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret });
  const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Assent' };
  const answer = await callService({ method: 'POST', url: tokenUrl, headers, body: form.toString() });
  const { status } = answer;
  const parsed = Answer.safeParse(jsonOf(answer));
  if (!parsed.success || status >= 300) {
    const isRefused = status >= 400 ? !isAway(answer) : Refusal.safeParse(jsonOf(answer)).success;
    throw isRefused ? new GrantRefused(`The service answered ${status} without a token`) : noAnswer(answer);
  }
  const { access_token, refresh_token, expires_in, scope } = parsed.data;
  return {
    tokens: { access_token, refresh_token },
    scopes: scope === undefined ? null : scopesOf(scope),
    expiresIn: expires_in ?? null,
  };
}
