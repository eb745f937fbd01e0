import { defineStatement, run as sql } from '../../../../../db/statement.js';
import type { Context } from '../../../../platform/context.js';
import { findRecipients } from '../../../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../../../work/notifications/notify-users.js';
import type { GateRole } from '../../../actions/rules.js';
import { factsOfRuns } from '../../event-facts.js';
import { namesAt } from '../../names-at.js';
import { presentSteps, collectWanted } from '../../staging/describe-gates.js';
import { readTail, type StoredTail } from '../../staging/tail.js';
import { describeStaged } from './describe-staged.js';
import { EXCLUDED } from '../excluded.sql.js';
import { plainText } from '../../../../platform/plain-text.js';

interface Waiting {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  creator_id: string;
  trigger_type: string;
  event: Record<string, unknown>;
}
interface Asking extends StoredTail {
  required_role: GateRole;
  message: string | null;
  expires_at: Date;
}

/** $1 = run id. Users whose approval of the run's open gate does not count. */
const excludedStatement = defineStatement({
  name: 'excluded_of_open_gate',
  text: /* sql */ `
    select ${EXCLUDED} as excluded from automation_runs r join gates g using (run_id) where r.run_id = $1 and g.decision is null`,
});

const UTC = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'short' });

/**
 * Notifies the users who can approve a gate, in the app and by email with the run's address: when it opens, and once more as a
 * reminder. The subject of the email names what the run is about, so that two runs of one automation differ. Omits users who have
 * approved already or may not approve their own run. Returns the number of recipients.
 */
export async function notifyApprovers(
  ctx: Context,
  run: Waiting,
  gate: Asking,
  kind: 'approval_requested' | 'approval_reminder',
  approved: readonly string[] = [],
): Promise<number> {
  const { team_id: teamId, run_id, automation_name, creator_id } = run;
  const [own] = await sql<{ excluded: string[] }>(ctx.db, excludedStatement, [run_id]);
  const except = [...(own?.excluded ?? []), ...approved];
  const wanted = teamId === null ? { teamId, userIds: [creator_id] } : { teamId, role: gate.required_role };
  const people = await findRecipients(ctx, { ...wanted, except });
  const reminder = kind === 'approval_reminder';
  const steps = readTail(gate).actions;
  const [[names = {}], [recognized]] = await Promise.all([
    namesAt(ctx, [collectWanted(teamId ?? creator_id, steps, creator_id)]),
    factsOfRuns(ctx, [run]),
  ]);
  const subject = recognized?.subject ?? null;
  // The distinguishing part comes first: a list of emails shows only the beginning of a subject.
  const about = subject === null ? automation_name : `${subject} (${automation_name})`;
  const title = `${reminder ? 'Still waiting' : 'Waiting'} for your approval: ${about}`;
  const message = plainText(gate.message ?? `${automation_name} needs approval.`);
  const details = [
    ...describeStaged(presentSteps(steps, names), names[creator_id]),
    `Expires ${UTC.format(gate.expires_at)} UTC.`,
  ];
  const path = `/app/approvals/gate/${run_id}` as const;
  await notifyUsers(ctx, people, { kind, title, message, details, team_id: teamId, run_id, path }, ['in_app', 'email']);
  return people.length;
}
