import { z } from 'zod';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import type { Context } from '../../../platform/context.js';
import { DomainError, forbidden } from '../../../platform/errors.js';
import { OutboundFailure } from '../../../platform/http-client/failure.js';
import type { OutboundResponse } from '../../../platform/http-client/send-request.js';
import { isAway, parseJson } from '../../connections/call-service.js';
import { accessToken } from '../../connections/connections.js';
import { callForge } from '../../connections/forge/call-forge.js';
import { forge } from '../../connections/forge/provider.js';
import { GrantRefused } from '../../connections/request-tokens.js';

const Repository = z.object({ full_name: z.string(), permissions: z.object({ push: z.boolean() }) });

const CONNECT = 'connect your account first, with POST /api/integrations/forge/connect';

const unreachable = (cause?: unknown) =>
  new DomainError('INTERNAL_ERROR', 'The code host is unavailable', {
    status: 503,
    detail: 'Nothing was bound: your push permission could not be verified',
    headers: { 'Retry-After': '30' },
    cause,
  });

const notConnected = (why: string) =>
  forbidden('Binding a repository requires push permission', { detail: `${why}: ${CONNECT}` });

/** Uses the user's own token, so the response reveals nothing that the user could not read there. */
async function askForge(ctx: Context, userId: string, repo: string): Promise<OutboundResponse> {
  try {
    const token = await accessToken(ctx, forge, userId, []);
    return await callForge(ctx.config, token, 'GET', `/repos/${repo}`);
  } catch (thrown) {
    if (thrown instanceof OutboundFailure || (thrown instanceof ActionRefused && thrown.isRetryable)) throw unreachable(thrown);
    if (thrown instanceof ActionRefused || thrown instanceof GrantRefused) {
      throw notConnected('You have no working connection to the code host');
    }
    throw thrown;
  }
}

/**
 * Requires that a user's connected account may push to a repository. `repo` is `owner/name` in lower case. A renamed or
 * transferred repository responds with another name, which is no proof for this one.
 * @throws PERMISSION_DENIED naming the missing proof: no connection, or no push permission, with the same message for a
 * repository that does not exist | INTERNAL_ERROR 503 the code host does not respond
 */
export async function provePush(ctx: Context, userId: string, repo: string): Promise<void> {
  const answer = await askForge(ctx, userId, repo);
  if (answer.status === 401) throw notConnected('The code host no longer accepts your connection');
  if (isAway(answer)) throw unreachable();
  const found = Repository.safeParse(parseJson(answer));
  if (answer.status === 200 && found.success && found.data.full_name.toLowerCase() === repo && found.data.permissions.push)
    return;
  throw forbidden('Binding a repository requires push permission', {
    detail: `Your account at the code host cannot push to ${repo}`,
  });
}
