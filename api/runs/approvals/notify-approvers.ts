import { run as sql, type Statement } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { findRecipients } from '../../notifications/find-recipients.js';
import { notifyUsers } from '../../notifications/notify-users.js';
import type { GateRole } from '../../actions/rules.js';
import { actorName, type Definition, type Plan, planRuns } from '../planned-actions.js';
import { describeStaged } from './describe-staged.js';
import { EXCLUDED } from './excluded.sql.js';
import { plainText } from '../../core/plain-text.js';

interface Waiting {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  creator_id: string;
  project_id: string | null;
  trigger_type: string;
  event: Record<string, unknown>;
  actions: Record<string, unknown>[];
}
interface Asking {
  gate_index: number;
  required_role: GateRole;
  message: string | null;
  expires_at: Date;
}

/** $1 = run id. Users whose approval of the run's open gate does not count. */
const excludedStatement: Statement = {
  name: 'excluded_of_open_gate',
  text: /* sql */ `
    select ${EXCLUDED} as excluded from automation_runs r join gates g using (run_id) where r.run_id = $1 and g.decision is null`,
};

/** Longest value in an email, in code points; the run's page shows all of it. */
const MAX_VALUE_LENGTH = 300;

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
  const planned = { ...run, actions: run.actions.slice(gate.gate_index + 1) as unknown as Definition[] };
  const [[plan], actor] = await Promise.all([planRuns(ctx, [planned], MAX_VALUE_LENGTH), actorName(ctx, planned)]);
  const { subject } = plan as Plan;
  // The distinguishing part comes first: a list of emails shows only the beginning of a subject.
  const about = subject === null ? automation_name : `${subject} (${automation_name})`;
  const title = `${reminder ? 'Still waiting' : 'Waiting'} for your approval: ${about}`;
  const message = plainText(gate.message ?? `${automation_name} needs approval.`);
  const details = [...describeStaged(plan as Plan, actor), `Expires ${UTC.format(gate.expires_at)} UTC.`];
  await notifyUsers(ctx, people, { kind, title, message, details, team_id: teamId, run_id }, ['in_app', 'email']);
  return people.length;
}
