import { defineStatement, run } from '../../../../db/statement.js';
import { unboundReach } from '../../../platform/config.js';
import type { Context } from '../../../platform/context.js';
import { type NormalisedEvent } from '../rules.js';
import { listForgeTriggers } from '../../../platform/events/catalogue/forge.js';
import type { InstanceRole } from '../../../platform/access/actor.js';

/** A repository binding of a live team, with the user who created it. */
export interface Binding {
  binding_id: string;
  team_id: string;
  project_id: string | null;
  sync_issues: boolean;
  creator: { userId: string; email: string; role: InstanceRole; active: boolean };
}

/** Recipients of an event. */
export interface Audience {
  bindings: Binding[];
  /** Teams that receive the event, each with the projects bound to the repository. */
  teams: { team_id: string; project_ids: string[] }[];
  /** Teams whose tasks may be linked; null = all teams. */
  linkable: string[] | null;
}

/** $1 = repository, $2 = receipt id. */
const bindingsStatement = defineStatement({
  name: 'bindings_of_repository',
  text: /* sql */ `
    select r.binding_id, r.team_id, r.project_id, r.sync_issues, u.user_id, u.email, u.role, u.status, r.created_at <= d.received_at as came_after
    from forge_repositories r
    join users u on u.user_id = r.created_by
    join teams t on t.team_id = r.team_id
    join forge_deliveries d on d.receipt_id = $2
    where r.repo = $1 and t.deleted_at is null order by r.created_at, r.binding_id`,
});

interface BindingRow extends Omit<Binding, 'creator'>, Record<string, unknown> {
  came_after: boolean;
  user_id: string;
  email: string;
  role: InstanceRole;
  status: string;
}

/** Returns the bindings of a repository; `came_after`: the delivery came after the binding was created. */
async function findBindings(ctx: Context, repo: string, receiptId: string): Promise<(Binding & { came_after: boolean })[]> {
  const rows = await run<BindingRow>(ctx.db, bindingsStatement, [repo, receiptId]);
  return rows.map(({ user_id, email, role, status, ...binding }) => ({
    ...binding,
    creator: { userId: user_id, email, role, active: status === 'active' },
  }));
}

/** $1 = trigger types. */
const subscribedStatement = defineStatement({
  name: 'teams_subscribed_to_forge',
  text: /* sql */ `
    select distinct a.team_id from automations a join teams t on t.team_id = a.team_id
    where a.trigger_type = any($1::text[]) and a.is_active and a.deleted_at is null and a.project_id is null and t.deleted_at is null`,
});

/**
 * Returns the teams with an enabled team-wide automation for the event. An unbound repository reaches each of them separately, so
 * that an event carries only its own team's tasks. It never reaches automations of a project.
 */
async function subscribedTeams(ctx: Context, type: string): Promise<string[]> {
  const rows = await run<{ team_id: string }>(ctx.db, subscribedStatement, [listForgeTriggers(type)]);
  return rows.map((row) => row.team_id);
}

/**
 * Returns the recipients of a receipt's event: the teams that had bound its repository when it arrived. An unbound repository
 * reaches every team or none, by configuration. Returns null if no team receives it (docs/decisions/integrations.md#unbound-repositories).
 */
export async function findAudience(
  ctx: Context,
  { type, payload }: NormalisedEvent,
  receiptId: string,
): Promise<Audience | null> {
  const known = payload.repo === null ? [] : await findBindings(ctx, payload.repo.toLowerCase(), receiptId);
  const bindings = known.filter(({ came_after }) => came_after);
  if (known.length > 0) {
    if (bindings.length === 0) return null;
    const teamIds = [...new Set(bindings.map((binding) => binding.team_id))];
    const teams = teamIds.map((team_id) => ({
      team_id,
      project_ids: bindings.flatMap((binding) => (binding.team_id === team_id && binding.project_id ? [binding.project_id] : [])),
    }));
    return { bindings, teams, linkable: teamIds };
  }
  if (unboundReach(ctx.config) === 'none') return null;
  const teams = (await subscribedTeams(ctx, type)).map((team_id) => ({ team_id, project_ids: [] }));
  return { bindings, teams, linkable: null };
}
