import { Automation } from '../../../../db/models/automation/automation.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { serviceContext, type Services } from '../../../platform/context.js';
import { findRecipients } from '../../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../../work/notifications/notify-users.js';
import { deactivate } from '../deactivate-automations.js';

/**
 * $1 = automation ids, $2 = maximum runs a minute. Finds the enabled automations that other runs start more often. Runs skipped
 * by their condition or their depth do not count: only a run that began can start another.
 */
const statement = defineStatement({
  name: 'find_runaways',
  text: /* sql */ `
    select a.automation_id from automations a
    where a.automation_id = any($1::uuid[]) and a.is_active and a.deleted_at is null and $2::int < (
      select count(*) from (
        select from automation_runs r where r.automation_id = a.automation_id and r.queued_at > now() - interval '1 minute' and r.depth > 0
          and (r.skip_reason is null or r.skip_reason = 'rejected')
        limit $2::int + 1) recent)`,
});

/**
 * Disables automations that other runs start too often, and notifies the team's managers and the creator. Running runs continue.
 * Returns how many were disabled (docs/decisions/automation.md#loop-protection).
 */
export async function tripBreaker(services: Services, automationIds: readonly string[]): Promise<number> {
  const maxRuns = services.config.AUTOMATION_BREAKER_RUNS;
  const found = await run<{ automation_id: string }>(services.db, statement, [automationIds, maxRuns]);
  for (const { automation_id } of found)
    await services.db.transaction((db) => switchOff({ ...services, db }, automation_id, maxRuns));
  if (found.length > 0) services.notifyRelay();
  return found.length;
}

async function switchOff(services: Services, automationId: string, maxRuns: number): Promise<void> {
  const automation = await Automation.query(services.db).findById(automationId).modify('live').forNoKeyUpdate();
  if (!automation?.is_active) return;
  const ctx = serviceContext(services, 'breaker');
  await deactivate(ctx, automation, 'rate_breaker', 'disabled the automation: other runs started it too often');
  const { team_id: teamId, created_by, name } = automation;
  const managers = teamId === null ? [] : await findRecipients(ctx, { teamId, role: 'manager' });
  const creator = await findRecipients(ctx, { teamId, userIds: [created_by] });
  const people = [...new Map([...managers, ...creator].map((person) => [person.user_id, person])).values()];
  const message = `${name} was started by other runs more than ${maxRuns} times in a minute and was disabled. Active runs continue.`;
  const notice = { kind: 'automation_disabled', title: `Disabled: ${name}`, message, team_id: teamId, run_id: null } as const;
  await notifyUsers(ctx, people, notice, ['in_app', 'email']);
}
