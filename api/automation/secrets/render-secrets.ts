import type { Context } from '../../platform/context.js';
import { findSecretHandles, renderTemplates } from '../language/template.js';
import { findSecrets, openSecrets, type StoredSecret } from './vault.js';

/** What is left of templates, the secrets that they name, and the values in it. */
export interface RenderedSecrets {
  value: unknown;
  found: readonly StoredSecret[];
  secrets: ReadonlySet<string>;
}

/**
 * Puts the values of a team's secrets where templates name them. `check` may throw for what was found, before a value is opened; `refuse` throws the
 * caller's own error, with `secret_missing` or what the template is refused with.
 * @throws SecretUnreadable
 */
export async function renderSecrets(
  ctx: Context,
  teamId: string,
  given: Record<string, unknown>,
  { check, refuse }: { check: (found: readonly StoredSecret[]) => void; refuse: (code: string, message: string) => never },
): Promise<RenderedSecrets> {
  const names = findSecretHandles(given);
  const found = await findSecrets(ctx, teamId, names);
  const missing = names.find((name) => !found.some((secret) => secret.name === name));
  if (missing !== undefined) refuse('secret_missing', `The team has no secret ${missing}`);
  check(found);
  const values = openSecrets(ctx.config, teamId, found);
  const rendered = renderTemplates(given, {}, { secrets: (name) => values.get(name) });
  return rendered.ok
    ? { value: rendered.value, found, secrets: new Set(values.values()) }
    : refuse(rendered.code, rendered.message);
}
