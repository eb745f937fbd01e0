import type { Context } from '../core/context.js';
import { missingSecrets } from '../secrets/vault.js';

/**
 * What will go wrong at the run unless something is done first: an automation that names a secret nobody has saved is stored all
 * the same, and its action fails with `secret_missing` (F12).
 */
export async function warningsOf(ctx: Context, teamId: string | null, secrets: readonly string[]): Promise<string[]> {
  if (teamId === null) return secrets.map((name) => `A personal automation has no secrets: ${name} will be missing`);
  return (await missingSecrets(ctx, teamId, secrets)).map((name) => `There is no secret named ${name} yet`);
}
