import { isAllowed, type Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { isHostAllowed } from '../../platform/http-client/host-patterns.js';
import { renderTemplates, findSecretHandles } from '../language/template.js';
import { recordUse } from '../secrets/record-use.js';
import { findSecrets, openSecrets } from '../secrets/vault.js';
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
  const names = findSecretHandles(given);
  const found = await findSecrets(ctx, team_id, names);
  const missing = names.find((name) => !found.some((secret) => secret.name === name));
  if (missing !== undefined) refuse('secret_missing', `The team has no secret ${missing}`);
  const unrestricted = found.find(({ allowed_hosts }) => allowed_hosts.length === 0);
  if (unrestricted && !isAllowed('secret.use_anywhere', seat))
    refuse(
      'secret_not_authorized',
      `The secret ${unrestricted.name} has no allowed hosts: its requester must be an admin of the team`,
    );
  const values = openSecrets(ctx.config, team_id, found);
  const rendered = renderTemplates(given, {}, { secrets: (name) => values.get(name) });
  if (!rendered.ok) return refuse(rendered.code, rendered.message);
  const { url, headers = {}, body } = rendered.value as { url: string; headers?: Record<string, string>; body?: unknown };
  const host = new URL(url);
  for (const { name, allowed_hosts } of found) {
    if (allowed_hosts.length > 0 && !isHostAllowed(allowed_hosts, host))
      refuse('secret_host_refused', `The secret ${name} was not sent: ${host.host} is not an allowed host`);
    await recordUse(ctx, team_id, name, 'read', { request_id, host: host.host });
  }
  return { url, headers, body, secrets: new Set(values.values()) };
}
