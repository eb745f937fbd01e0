import { isAllowed, type Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { isHostAllowed } from '../../platform/http-client/host-patterns.js';
import { recordUse } from '../secrets/record-use.js';
import { type RenderedSecrets, renderSecrets } from '../secrets/render-secrets.js';
import { ActionRefused } from '../../gate/contract/action-refused.js';

/** What is sent, and the secret values in it. */
export interface Filled {
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  secrets: ReadonlySet<string>;
}

const refuse = (code: string, message: string): never => {
  throw new ActionRefused({ code, message });
};

/**
 * Puts the values of secrets where an approved request names them, and records each use. A secret without allowed hosts could be sent anywhere, so its
 * requester must be an admin of the team.
 * @throws ActionRefused `secret_missing`, `secret_not_authorized`, `secret_host_refused`, `template_invalid` | SecretUnreadable
 */
export async function fillIn(
  ctx: Context,
  { request_id, team_id, seat }: { request_id: string; team_id: string; seat: Seat | null },
  given: Record<string, unknown>,
): Promise<Filled> {
  const check = (found: RenderedSecrets['found']): void => {
    const unrestricted = found.find(({ allowed_hosts }) => allowed_hosts.length === 0);
    if (unrestricted && !isAllowed('secret.use_anywhere', seat))
      refuse(
        'secret_not_authorized',
        `The secret ${unrestricted.name} has no allowed hosts: its requester must be an admin of the team`,
      );
  };
  const { value, found, secrets } = await renderSecrets(ctx, team_id, given, { check, refuse });
  const { url, headers = {}, body } = value as { url: string; headers?: Record<string, string>; body?: unknown };
  const host = new URL(url);
  for (const { name, allowed_hosts } of found) {
    if (allowed_hosts.length > 0 && !isHostAllowed(allowed_hosts, host))
      refuse('secret_host_refused', `The secret ${name} was not sent: ${host.host} is not an allowed host`);
    await recordUse(ctx, team_id, name, 'read', { request_id, host: host.host });
  }
  return { url, headers, body, secrets };
}
