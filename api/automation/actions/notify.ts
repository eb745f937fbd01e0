import { z } from 'zod';
import { SEATS } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { Id, Text } from '../../platform/fields.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findRecipients, type Recipient } from '../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../work/notifications/notify-users.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { ActionType } from '../../gate/contract/action-type.js';

const Params = z
  .object({
    user_ids: z.array(Id).min(1).max(100).optional(),
    role: z.enum(SEATS).optional().meta({ description: 'Everyone in the team with this role or a higher one' }),
    message: Text.min(1).max(2000),
    channel: z.enum(['in_app', 'email']).default('in_app'),
  })
  .refine(({ user_ids, role }) => (user_ids === undefined) !== (role === undefined), 'must have either user_ids or role');
type Params = z.output<typeof Params>;

/** $1 = run id. Recipients that the run's earlier actions have notified. */
const notifiedStatement = defineStatement({
  name: 'notified_by_run',
  text: /* sql */ `
    select coalesce(sum((output ->> 'notified')::int), 0)::int as notified from run_actions
    where run_id = $1 and type = 'notify' and status = 'succeeded'`,
});

/** Returns how many of a number of recipients the run may still notify. */
async function takeShare(ctx: Context, runId: string, recipients: number): Promise<number> {
  const [row] = await run<{ notified: number }>(ctx.db, notifiedStatement, [runId]);
  return Math.max(0, Math.min(recipients, ctx.config.NOTIFICATIONS_PER_RUN - (row?.notified ?? 0)));
}

/**
 * Returns the recipients: members of the team, or the creator of a personal automation.
 * @throws INVALID_REQUEST
 */
async function findNoticeRecipients(ctx: Context, teamId: string | null, { user_ids, role }: Params): Promise<Recipient[]> {
  const requested = user_ids && [...new Set(user_ids)];
  const userIds = teamId === null ? [requireUser(ctx)] : requested;
  const people = await findRecipients(ctx, { teamId, ...(role && { role }), ...(userIds && { userIds }) });
  if (requested && requested.some((id) => !people.some(({ user_id }) => user_id === id))) {
    throw invalid('user_ids: every user must be a member of the automation’s team');
  }
  if (people.length === 0) throw invalid('role: no team member has this role');
  return people;
}

export const notify: ActionType<Params> = {
  type: 'notify',
  label: 'Notify people',
  category: 'core',
  params: Params,
  // Mails take a share of what each recipient may get in an hour, over all teams.
  check: (ctx, params, { team_id }) => findNoticeRecipients(ctx, team_id, params),
  async perform(ctx, params, { run_id, team_id, project_id, automation_name }) {
    const all = await findNoticeRecipients(ctx, team_id, params);
    const people = all.slice(0, await takeShare(ctx, run_id, all.length));
    const withheld = all.length - people.length;
    const { message, channel } = params;
    await notifyUsers(ctx, people, { kind: 'message', title: automation_name, message, team_id, run_id }, [channel]);
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'automations',
      action: 'execute',
      entity_type: 'automation_run',
      entity_id: run_id,
      title: automation_name,
      summary: `notified ${people.length === 1 ? 'one person' : `${people.length} people`}`,
      details: { channel, user_ids: people.map(({ user_id }) => user_id), ...(withheld > 0 && { withheld }) },
    });
    const output = { channel, notified: people.length, ...(withheld > 0 && { withheld }) };
    return { entity_type: 'member', entity_id: all[0]?.user_id ?? '', output };
  },
};
