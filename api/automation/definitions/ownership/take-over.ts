import type { Automation } from '../../../../db/models/automation/automation.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { findRecipients } from '../../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../../work/notifications/notify-users.js';
import { assertActionsAllowed } from '../../secrets/assert-actions-allowed.js';
import { getAutomation } from '../get-automation.js';
import { lockAutomation } from '../lock-automation.js';
import { saveDefinition } from '../save-definition.js';
import type { SavedAutomation } from '../schema.js';
import { findWarnings } from '../warnings.js';
import { lockActiveCaller } from './present-creator.js';
import type { TakeOver } from './schema.js';

async function notifyFormerCreator(ctx: Context, { team_id, created_by, name }: Automation): Promise<void> {
  const people = await findRecipients(ctx, { teamId: team_id, userIds: [created_by] });
  const message = `${name} was taken over. New runs act as its new creator; active runs still act as you.`;
  await notifyUsers(ctx, people, { kind: 'message', title: `Taken over: ${name}`, message, team_id, run_id: null }, ['in_app']);
}

/**
 * Makes the caller the creator of a team's automation, with a new version. `is_active` stays, so a former member's automation is
 * enabled in a second step. Runs that have begun keep their creator; later ones, including replays, act as the caller. Taking
 * over one's own automation changes nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager; below admin, a protected one or one with a secret that only
 * admins may use | RESOURCE_CONFLICT stale version
 */
export function takeOver(ctx: Context, automationId: string, { version }: TakeOver): Promise<SavedAutomation> {
  return inTransaction(ctx, async (ctx) => {
    const before = await lockAutomation(ctx, 'automation.take_over', automationId, version);
    await lockActiveCaller(ctx);
    const created_by = requireUser(ctx);
    if (before.created_by === created_by) return answer(ctx, before);
    await assertActionsAllowed(ctx, before.team_id, before.actions);
    await notifyFormerCreator(ctx, before);
    const disabled_reason = before.disabled_reason === 'creator_left' ? null : before.disabled_reason;
    const after = await saveDefinition(
      ctx,
      before,
      { created_by, disabled_reason },
      {
        change_note: 'Taken over',
        trace: {
          action: 'change_owner',
          summary: 'took the automation over',
          details: { changes: { created_by: { from: before.created_by, to: created_by } } },
        },
      },
    );
    return answer(ctx, after);
  });
}

const answer = async (ctx: Context, saved: Automation): Promise<SavedAutomation> => ({
  ...(await getAutomation(ctx, saved.automation_id)),
  warnings: await findWarnings(ctx, saved),
});
