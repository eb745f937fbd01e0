import { run } from '../../../../db/statement.js';
import type { Seat } from '../../../platform/access/access.js';
import { type Context, callerJson } from '../../../platform/context.js';
import { findRecipients } from '../../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../../work/notifications/notify-users.js';
import { disableAutomationsStatement, lockAutomationsStatement } from './disable-automations.sql.js';

/** Why automations are disabled: the creator's change, as emails and the activity feed show it. */
export type Leaving = 'has left the team' | `has become a ${Seat}` | 'is suspended' | 'has been deprovisioned';

interface DisabledByTeam extends Record<string, unknown> {
  team_id: string | null;
  creator: string;
  names: string[];
}

/**
 * Locks every automation that a user created, in a team or everywhere. Lock order: automations, then the membership or account,
 * as saving an automation does. Called once more after that, for automations created while the membership lock was awaited.
 * @returns the number of enabled ones, for the audit entry of the change
 */
export async function lockUserAutomations(
  ctx: Context,
  creatorId: string,
  teamId: string | null,
): Promise<{ disabled_automations?: number }> {
  const [row] = await run<{ enabled: number }>(ctx.db, lockAutomationsStatement, [creatorId, teamId]);
  return row?.enabled ? { disabled_automations: row.enabled } : {};
}

/** Names shown in one email. */
const MAX_NAMES = 10;

async function notifyManagers(
  ctx: Context,
  { team_id, creator, names }: DisabledByTeam,
  leaving: Leaving,
  creatorId: string,
): Promise<void> {
  if (team_id === null) return;
  const people = await findRecipients(ctx, { teamId: team_id, role: 'manager', except: [creatorId] });
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  const title = names.length === 1 ? `Disabled: ${names[0]}` : `Disabled: ${names.length} automations of ${creator}`;
  const message = `${creator} ${leaving}, so ${names.slice(0, MAX_NAMES).join(', ')}${more} ${names.length === 1 ? 'is' : 'are'} disabled. Take over what the team needs, then enable it.`;
  const notice = { kind: 'automation_disabled', title, message, team_id, run_id: null, path: `/app/teams/${team_id}` } as const;
  await notifyUsers(ctx, people, notice, ['in_app', 'email']);
}

/**
 * Disables every automation that a user created, in a team or everywhere, in the change after which the user may not write there,
 * and notifies each team's managers. Reinstating the user enables nothing. The caller has locked the automations
 * (`lockUserAutomations`) and the membership or the account. It has also recorded its own change, which must be the request's first
 * audit entry. Running runs keep their status, but none of their actions runs as the user any more.
 */
export async function disableUserAutomations(
  ctx: Context,
  creatorId: string,
  teamId: string | null,
  leaving: Leaving,
): Promise<number> {
  const teams = await run<DisabledByTeam>(ctx.db, disableAutomationsStatement, [
    JSON.stringify(callerJson(ctx)),
    creatorId,
    teamId,
    leaving,
  ]);
  for (const team of teams) await notifyManagers(ctx, team, leaving, creatorId);
  return teams.reduce((sum, { names }) => sum + names.length, 0);
}
