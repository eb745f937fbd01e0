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

/** Returns the bindings of a repository; `came_after`: the delivery came after the binding was created. */
async function findBindings(ctx: Context, repo: string, receiptId: string): Promise<(Binding & { came_after: boolean })[]> {
  const rows = await ctx
    .db('forge_repositories as r')
    .join('users as u', 'u.user_id', 'r.created_by')
    .join('teams as t', 't.team_id', 'r.team_id')
    .where('r.repo', repo)
    .whereNull('t.deleted_at')
    .orderBy(['r.created_at', 'r.binding_id'])
    .join('forge_deliveries as d', 'd.receipt_id', ctx.db.raw('?::uuid', [receiptId]))
    .select<
      (Omit<Binding, 'creator'> & {
        came_after: boolean;
        user_id: string;
        email: string;
        role: InstanceRole;
        status: string;
      })[]
    >(
      'r.binding_id',
      'r.team_id',
      'r.project_id',
      'r.sync_issues',
      'u.user_id',
      'u.email',
      'u.role',
      'u.status',
      ctx.db.raw('r.created_at <= d.received_at as came_after'),
    );
  return rows.map(({ user_id, email, role, status, ...binding }) => ({
    ...binding,
    creator: { userId: user_id, email, role, active: status === 'active' },
  }));
}

/**
 * Returns the teams with an enabled team-wide automation for the event. An unbound repository reaches each of them separately, so
 * that an event carries only its own team's tasks. It never reaches automations of a project.
 */
async function subscribedTeams(ctx: Context, type: string): Promise<string[]> {
  const rows = await ctx
    .db('automations as a')
    .join('teams as t', 't.team_id', 'a.team_id')
    .whereIn('a.trigger_type', listForgeTriggers(type))
    .where('a.is_active', true)
    .whereNull('a.deleted_at')
    .whereNull('a.project_id')
    .whereNull('t.deleted_at')
    .distinct<{ team_id: string }[]>('a.team_id');
  return rows.map((row) => row.team_id);
}

/**
 * Returns the recipients of a receipt's event: the teams that had bound its repository when it arrived. An unbound repository
 * reaches every team or none, by configuration. Returns null if no team receives it (docs/decisions.md#unbound-repositories).
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
