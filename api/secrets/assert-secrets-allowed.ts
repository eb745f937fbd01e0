import { secretHandles } from '../automations/actions/secret-handles.js';
import { suffices } from '../core/access.js';
import type { Context } from '../core/context.js';
import { forbidden } from '../core/errors.js';
import { seatOf } from '../core/seats.js';

/**
 * Refuses a caller who may not save, start, replay or take over a definition because of its secrets: one without allowed hosts could
 * be sent anywhere, so only a team admin may. The caller's role is locked until the commit; hosts that are removed meanwhile are
 * judged again when the action runs. Call it after the caller's role has passed for the automation itself: the refusal names a secret.
 * `teamId` null: a personal automation, which has no secrets.
 * @throws PERMISSION_DENIED naming the secret
 */
export async function assertSecretsAllowed(
  ctx: Context,
  teamId: string | null,
  actions: readonly { type: string; params?: unknown }[],
): Promise<void> {
  const names = teamId === null ? [] : secretHandles(actions);
  if (teamId === null || names.length === 0) return;
  if (suffices('secret.use_anywhere', await seatOf(ctx, teamId))) return;
  const unrestricted = await ctx
    .db('team_secrets')
    .where({ team_id: teamId, allowed_hosts: '{}' })
    .whereIn('name', names)
    .orderBy('name')
    .first<{ name: string } | undefined>('name');
  if (unrestricted)
    throw forbidden(`The secret ${unrestricted.name} has no allowed hosts: this needs the admin role in the team`);
}
