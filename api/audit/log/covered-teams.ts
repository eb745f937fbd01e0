import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { forbidden } from '../../platform/errors.js';
import { type BillingTier, listEntitlements } from '../../platform/access/billing-tiers.js';
import { sealChains } from '../seal-entries.js';

/** $1 = caller id, $2 = roles that may read the log. */
const administeredStatement = defineStatement({
  name: 'audit_teams',
  text: /* sql */ `
    select t.team_id, t.plan from memberships m join teams t using (team_id)
    where m.user_id = $1 and m.role = any($2::text[]) and t.deleted_at is null order by t.team_id`,
});

const FEATURE = 'audit_logs';

/**
 * Returns the teams whose log the caller may read, with all their entries sealed: those that they administer and whose plan includes the log.
 * Each read of the log starts here.
 * @param teamId only this one
 * @throws PERMISSION_DENIED without such a team; with the keys of an upgrade if only the plan is missing
 */
export async function coveredTeams(ctx: Context, teamId?: string): Promise<string[]> {
  const all = await run<{ team_id: string; plan: BillingTier }>(ctx.db, administeredStatement, [
    requireUser(ctx),
    rolesFor('audit.read'),
  ]);
  const administered = teamId === undefined ? all : all.filter(({ team_id }) => team_id === teamId);
  if (administered.length === 0)
    throw forbidden(teamId === undefined ? 'You administer no team' : 'You do not administer this team');
  const teams = administered.filter(({ plan }) => listEntitlements(plan).includes(FEATURE)).map(({ team_id }) => team_id);
  if (teams.length === 0)
    throw forbidden('The plan does not include the audit log', {
      detail: 'The Scale plan includes it. An administrator of the installation can change the plan of a team.',
      extra: { upgrade_required: true, feature: FEATURE },
    });
  await sealChains(ctx.db, teams);
  return teams;
}
