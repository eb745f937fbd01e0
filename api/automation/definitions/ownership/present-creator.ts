import { defineStatement, run } from '../../../../db/statement.js';
import type { Automation } from '../../../../db/models/automation/automation.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, unauthenticated } from '../../../platform/errors.js';

/** $1 = creator id, $2 = team id or null, $3 = roles that may write. Returns a row if the creator may write there. */
const presentStatement = defineStatement({
  name: 'present_creator',
  text: /* sql */ `
    select from users u where u.user_id = $1 and u.status = 'active' and ($2::uuid is null
      or exists (select from memberships m where m.team_id = $2 and m.user_id = u.user_id and m.role = any($3::text[])))`,
});

/**
 * Rejects enabling an automation whose creator may not write in its team: all its actions would fail. The caller has locked the
 * automation's row; a change of the creator's role or account locks it too (disable-automations.ts), so the check holds until the
 * commit (docs/decisions/gate.md#creator-rights).
 * @throws RESOURCE_CONFLICT `creator_not_authorized`
 */
export async function requirePresentCreator(ctx: Context, { created_by, team_id }: Automation): Promise<void> {
  if ((await run(ctx.db, presentStatement, [created_by, team_id, rolesFor('automation.write')])).length > 0) return;
  throw conflict('The automation’s creator can no longer act in this team; take over the automation before you enable it', {
    detail: 'creator_not_authorized',
  });
}

const callerStatement = defineStatement({
  name: 'lock_active_caller',
  text: `select from users where user_id = $1 and status = 'active' for share`,
});

/**
 * Locks the caller's account as active until the commit, for a caller who becomes the creator of an automation. A concurrent
 * suspension waits for the commit and then finds the automation.
 * @throws AUTHENTICATION_REQUIRED suspended during the request
 */
export async function lockActiveCaller(ctx: Context): Promise<void> {
  if ((await run(ctx.db, callerStatement, [requireUser(ctx)])).length === 0) throw unauthenticated();
}
