import { defineStatement, run } from '../../../../db/statement.js';
import { hasRoleAtLeast, SEATS, type Seat } from '../../../platform/access/access.js';
import { webAddress } from '../../../platform/config.js';
import { EXCLUDED } from '../../../automation/runs/approvals/excluded.sql.js';
import type { Context } from '../../../platform/context.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';

interface Waiting extends Record<string, unknown> {
  email: string;
  display_name: string;
  team: string;
  runs: string[];
}

/**
 * $1 = team id, $2 = gate roles that the removed user's role covered, $3 = roles in ascending order. Returns each user who may
 * decide a gate that the removed user could have decided, with the names of the waiting automations.
 */
const statement = defineStatement({
  name: 'others_who_may_decide',
  text: /* sql */ `
    select u.email, u.display_name, t.name as team, array_agg(r.automation_name order by g.expires_at) as runs
    from automation_runs r join gates g using (run_id) join teams t on t.team_id = r.team_id
      join memberships m on m.team_id = r.team_id
        and array_position($3::text[], m.role) >= array_position($3::text[], g.required_role)
      join users u on u.user_id = m.user_id and u.status = 'active'
    where r.team_id = $1 and r.status = 'paused' and g.decision is null and g.expires_at > now() and g.required_role = any($2::text[])
      and u.user_id <> all(${EXCLUDED})
    group by u.user_id, t.name order by u.user_id`,
});

/** Maximum number of names in one email. */
const SHOWN = 10;

/** Emails everyone who may decide in place of a user who had this role in the team. Returns their number. */
export async function askOthers(ctx: Context, teamId: string, seat: Seat): Promise<number> {
  const covered = SEATS.filter((role) => hasRoleAtLeast(seat, role));
  const people = await run<Waiting>(ctx.db, statement, [teamId, covered, SEATS]);
  for (const { email, display_name, team, runs } of people) {
    const shown = [...new Set(runs)].slice(0, SHOWN);
    const data = {
      name: display_name,
      team,
      count: runs.length,
      automations: shown,
      url: webAddress(ctx.config, '/app/approvals'),
    };
    await queueMail(ctx, { to: email, template: 'gates-wait', data });
  }
  return people.length;
}
