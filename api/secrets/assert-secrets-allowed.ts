import { secretHandles } from '../actions/secret-handles.js';
import { isAllowed } from '../core/access.js';
import type { Context } from '../core/context.js';
import { forbidden } from '../core/errors.js';
import { seatOf } from '../core/seats.js';

type Actions = readonly { type: string; params?: unknown }[];

/**
 * Returns the first secret, by name, that forbids the caller to save, start or take over a definition: one without allowed hosts
 * could be sent anywhere, so only a team admin may use it. Inside a transaction, the caller's role is locked until the commit.
 * `teamId` null: a personal automation, which has no secrets.
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
 * Rejects a caller who may not save, start, replay or take over a definition because of a secret in it. The action checks the
 * hosts again when it runs. Call it after the caller's role is checked for the automation itself, because the error names a
 * secret.
 * @throws PERMISSION_DENIED naming the secret
 */
export async function assertSecretsAllowed(ctx: Context, teamId: string | null, actions: Actions): Promise<void> {
  const name = await findForbiddenSecret(ctx, teamId, actions);
  if (name !== undefined) throw forbidden(`The secret ${name} has no allowed hosts: requires the admin role in the team`);
}
