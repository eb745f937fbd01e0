import { run as sql, type Statement } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { findRecipients } from '../../notifications/find-recipients.js';
import { notifyUsers } from '../../notifications/notify-users.js';
import type { GateRole } from '../rules.js';
import { factsOf, subjectOf } from '../event-facts.js';
import { EXCLUDED } from './excluded.sql.js';

interface Waiting {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  creator_id: string;
  event: Record<string, unknown>;
}
interface Asking {
  required_role: GateRole;
  message: string | null;
  expires_at: Date;
}

/** $1 run. The people whose approval of its open gate does not count. */
const excludedStatement: Statement = {
  name: 'excluded_of_open_gate',
  text: /* sql */ `
    select ${EXCLUDED} as excluded from automation_runs r join gates g using (run_id) where r.run_id = $1 and g.decision is null`,
};

const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/**
 * Tells whoever may open a gate that it waits for them, in the app and by mail with the run's address: when it opens, and once more
 * as a reminder. The mail's subject names what the run is about, so that two of one automation can be told apart. Who has approved
 * already, or may not because it is their own run, is left out. Returns how many.
 * Source: decision F6.
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
  const subject = subjectOf(factsOf(run.event));
  // What tells one from the next comes first: a list of mails shows no more than the beginning.
  const about = subject === null ? automation_name : `${subject} (${automation_name})`;
  const title = `${reminder ? 'Still waiting' : 'Waiting'} for your approval: ${about}`;
  const message = `${gate.message ?? `${automation_name} waits for a yes or a no.`} Until ${minute(gate.expires_at)}.`;
  await notifyUsers(ctx, people, { kind, title, message, team_id: teamId, run_id }, ['in_app', 'email']);
  return people.length;
}
