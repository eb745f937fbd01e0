import { defineStatement, run } from '../../../db/statement.js';
import { newWebhookSecret, sealWebhookSecret } from '../../integrations/webhooks/secret.js';
import { webAddress } from '../../platform/config.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { lockAutomation } from '../definitions/lock-automation.js';
import { peopleOfCaller } from '../../platform/access/people-of-caller.js';
import { assertActionsAllowed } from '../secrets/assert-actions-allowed.js';
import { findHook } from './read-hook.js';
import { recordHookChange } from './record-hook-change.js';
import type { HookRecord, MakeAddress, NewAddress } from './schema.js';
import { hashOf, newHookToken } from './token.js';

/** $1 = automation id, $2 = hash of the token, $3 = caller, $4 = users who hold it, $5 = data key, $6 = signing secret, or nulls. A new token has made no calls. */
const makeStatement = defineStatement({
  name: 'make_automation_hook',
  text: /* sql */ `
    insert into automation_hooks (automation_id, token_hash, created_by, held_by, data_key, sealed_value)
      values ($1, $2, $3, $4::uuid[], $5, $6)
    on conflict (automation_id) do update set hook_id = excluded.hook_id, token_hash = excluded.token_hash,
      created_by = excluded.created_by, held_by = excluded.held_by, data_key = excluded.data_key,
      sealed_value = excluded.sealed_value, created_at = now(), calls = 0, last_call_at = null,
      last_refused_at = null, last_refusal = null`,
});

/**
 * Makes the address that starts an automation when it is called; one before it stops working at once. The address is only in this
 * response. The user who makes it holds it, so they are among the users behind its runs (docs/decisions/automation.md#calls-of-an-address).
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED as for a change, or a secret that only admins may use | RESOURCE_CONFLICT its trigger
 * is another, or the address is not the one that the caller replaces
 */
export function makeAddress(ctx: Context, automationId: string, { replaces, signed }: MakeAddress): Promise<NewAddress> {
  const token = newHookToken();
  const secret = signed ? newWebhookSecret() : null;
  return inTransaction(ctx, async (ctx) => {
    const automation = await lockAutomation(ctx, 'automation.write', automationId);
    await assertActionsAllowed(ctx, automation.team_id, automation.actions);
    if (automation.trigger_type !== 'webhook') {
      throw conflict('Only an automation with the trigger webhook has an address', { detail: 'Change its trigger first.' });
    }
    const before = await findHook(ctx, automationId);
    if (replaces !== undefined && replaces !== (before?.hook_id ?? null)) {
      throw conflict('The address has changed since', { detail: 'Reload to see who made the new one.' });
    }
    const sealed = secret === null ? null : sealWebhookSecret(ctx.config, automationId, secret);
    await run(ctx.db, makeStatement, [
      automationId,
      hashOf(token),
      requireUser(ctx),
      await peopleOfCaller(ctx),
      sealed?.data_key ?? null,
      sealed?.sealed_value ?? null,
    ]);
    await recordHookChange(ctx, automation, before ? 'rotate' : 'create');
    const hook = (await findHook(ctx, automationId)) as HookRecord;
    return { ...hook, url: webAddress(ctx.config, `/api/hooks/${token}`), secret };
  });
}
