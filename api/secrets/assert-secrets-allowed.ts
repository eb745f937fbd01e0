import { secretHandles } from '../actions/secret-handles.js';
import { isAllowed } from '../core/access.js';
import type { Context } from '../core/context.js';
import { forbidden } from '../core/errors.js';
import { seatOf } from '../core/seats.js';

type Actions = readonly { type: string; params?: unknown }[];

/**
 * The first secret of a definition, by name, that keeps the caller from saving, starting or taking it over: one without allowed hosts
 * could be sent anywhere, so only a team admin may. The caller's role is locked until the commit inside a transaction. `teamId` null:
 * a personal automation, which has no secrets.
 */
export async function findForbiddenSecret(ctx: Context, teamId: string | null, actions: Actions): Promise<string | undefined> {
  const names = teamId === null ? [] : secretHandles(actions);
  if (teamId === null || names.length === 0) return undefined;
  if (isAllowed('secret.use_anywhere', await seatOf(ctx, teamId))) return undefined;
  const unrestricted = await ctx
    .db('team_secrets')
    .where({ team_id: teamId, allowed_hosts: '{}' })
    .whereIn('name', names)
    .orderBy('name')
    .first<{ name: string } | undefined>('name');
  return unrestricted?.name;
}

/**
 * Refuses a caller who may not save, start, replay or take over a definition because of a secret in it. Hosts that are removed
 * meanwhile are judged again when the action runs. Call it after the caller's role has passed for the automation itself: the refusal
 * names a secret.
 * @throws PERMISSION_DENIED naming the secret
 */
export async function assertSecretsAllowed(ctx: Context, teamId: string | null, actions: Actions): Promise<void> {
  const name = await findForbiddenSecret(ctx, teamId, actions);
  if (name !== undefined) throw forbidden(`The secret ${name} has no allowed hosts: this needs the admin role in the team`);
}
