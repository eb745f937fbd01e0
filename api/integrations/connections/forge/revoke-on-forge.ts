import type { Config } from '../../../platform/config.js';
import { callService } from '../call-service.js';

/** Revoked, or unknown, which is equivalent. */
const DONE = [204, 404, 422];

/**
 * Revokes one token; the user's later grants stay (GitHub's REST API, "Delete an app token").
 * @throws OutboundFailure | Error the code host cannot do it now, or does not know our client
 */
export async function revokeOnForge(config: Config, token: string): Promise<void> {
  const { FORGE_API_URL, FORGE_CLIENT_ID = '', FORGE_CLIENT_SECRET = '' } = config;
  const { status } = await callService({
    method: 'DELETE',
    url: `${FORGE_API_URL.replace(/\/$/, '')}/applications/${encodeURIComponent(FORGE_CLIENT_ID)}/token`,
    headers: {
      authorization: `Basic ${Buffer.from(`${FORGE_CLIENT_ID}:${FORGE_CLIENT_SECRET}`).toString('base64')}`,
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
      'user-agent': 'Assent',
    },
    body: JSON.stringify({ access_token: token }),
  });
  if (!DONE.includes(status)) throw new Error(`The code host returned ${status} and did not revoke the token`);
}
