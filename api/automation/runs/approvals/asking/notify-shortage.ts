import type { Context } from '../../../../platform/context.js';
import { findRecipients } from '../../../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../../../work/notifications/notify-users.js';
import type { GateRole } from '../../../actions/rules.js';

interface Waiting {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  creator_id: string;
}

/**
 * Notifies the team's admins and the automation's creator that too few users can approve a gate that has just opened. The run
 * still waits until it is rejected or the gate expires: a gate never opens for lack of approvers
 * (docs/decisions/gate.md#too-few-approvers).
 */
export async function notifyShortage(
  ctx: Context,
  { run_id, automation_name, team_id, creator_id }: Waiting,
  gate: { required_role: GateRole; required_approvals: number },
  approvers: number,
): Promise<void> {
  const admins = team_id === null ? [] : await findRecipients(ctx, { teamId: team_id, role: 'admin' });
  const creator = await findRecipients(ctx, { teamId: team_id, userIds: [creator_id] });
  const people = [...new Map([...admins, ...creator].map((person) => [person.user_id, person])).values()];
  const title = `Too few approvers: ${automation_name}`;
  const message = `A run of ${automation_name} needs ${gate.required_approvals} approval${gate.required_approvals === 1 ? '' : 's'} from the role ${gate.required_role} or above; users who can approve: ${approvers}. Give more users the role or reject the run.`;
  await notifyUsers(ctx, people, { kind: 'message', title, message, team_id, run_id }, ['in_app', 'email']);
}
