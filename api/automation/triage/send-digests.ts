import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { webAddress } from '../../platform/config.js';
import { type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { queueMail } from '../../platform/mail/queue-mail.js';
import { BATCH, claimDigestsStatement } from './digest.sql.js';

interface WaitingPlan {
  team: string;
  source: string;
  risk: string;
  summary: string;
  changes: number;
}
interface Due extends Record<string, unknown> {
  email: string;
  display_name: string;
  plans: WaitingPlan[];
}

const MAX_LINES = 10;
const SOURCES: Readonly<Record<string, string>> = {
  overnight_triage: 'Overnight triage',
  ci_failure_triage: 'CI triage',
  automation: 'Automation',
};

/** Returns the subject: where, how much, and whether some of it needs care. All words but the team's name are ours. */
function getSubject(plans: readonly WaitingPlan[]): string {
  const teams = new Set(plans.map(({ team }) => team));
  const changes = plans.reduce((sum, plan) => sum + plan.changes, 0);
  const high = plans.filter(({ risk }) => risk === 'high').length;
  const where = teams.size === 1 ? [...teams][0] : `${teams.size} teams`;
  return `${where}: ${changes} ${changes === 1 ? 'suggestion' : 'suggestions'}${high === 0 ? '' : `, ${high} of high risk`}`;
}

async function mailDigest(ctx: Context, { email, display_name: name, plans }: Due): Promise<void> {
  const lines = plans
    .slice(0, MAX_LINES)
    .map(
      ({ team, source, summary, risk }) =>
        `${team}: ${SOURCES[source] ?? source}, ${summary}${risk === 'high' ? ' (high risk)' : ''}`,
    );
  const url = webAddress(ctx.config, '/app/approvals');
  const data = { name, subject: getSubject(plans), plans: lines, more: plans.length - lines.length, url };
  await queueMail(ctx, { to: email, template: 'plans-wait', data, usefulMinutes: 24 * 60 });
}

/** Emails users in their morning what plans of their teams wait for them. Safe to repeat. Returns the number of emails. */
export async function sendDigests(services: Services): Promise<number> {
  for (let mailed = 0; ; ) {
    const due = await inTransaction(serviceContext(services, 'triage'), async (ctx) => {
      const roles = [rolesFor('plan.decide'), rolesFor('plan.decide_high_risk')];
      const rows = await run<Due>(ctx.db, claimDigestsStatement, roles);
      for (const row of rows) await mailDigest(ctx, row);
      return rows.length;
    });
    mailed += due;
    if (due < BATCH) return mailed;
  }
}
