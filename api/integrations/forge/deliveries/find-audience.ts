import { defineStatement, run } from '../../../../db/statement.js';
import { bindingsStatement } from './find-audience.sql.js';
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

/** What decides whom a delivery reaches. */
interface Received {
  receipt_id: string;
  delivery_id: string;
  received_at: string;
  team_id: string | null;
}

interface BindingRow extends Omit<Binding, 'creator'>, Record<string, unknown> {
  came_after: boolean;
  already: boolean;
  user_id: string;
  email: string;
  role: InstanceRole;
  status: string;
}
type Known = Binding & Pick<BindingRow, 'came_after' | 'already'>;

/** Returns the bindings of a repository. */
async function findBindings(ctx: Context, repo: string, received: Received): Promise<Known[]> {
  const { received_at, team_id, delivery_id, receipt_id } = received;
  const rows = await run<BindingRow>(ctx.db, bindingsStatement, [repo, received_at, team_id, delivery_id, receipt_id]);
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
 * reaches every team or none, by configuration. Returns why, if no team receives it (docs/decisions/integrations.md#unbound-repositories).
 */
export async function findAudience(
  ctx: Context,
  { type, payload }: NormalisedEvent,
  received: Received,
): Promise<Audience | string> {
  const known = payload.repo === null ? [] : await findBindings(ctx, payload.repo.toLowerCase(), received);
  const bindings = known.filter(({ came_after, already }) => came_after && !already);
  if (known.length > 0) {
    if (bindings.length === 0) return known.some(({ already }) => already) ? HAD_IT : UNBOUND;
    const teamIds = [...new Set(bindings.map((binding) => binding.team_id))];
    const teams = teamIds.map((team_id) => ({
      team_id,
      project_ids: bindings.flatMap((binding) => (binding.team_id === team_id && binding.project_id ? [binding.project_id] : [])),
    }));
    return { bindings, teams, linkable: teamIds };
  }
  if (received.team_id !== null || unboundReach(ctx.config) === 'none') return UNBOUND;
  const teams = (await subscribedTeams(ctx, type)).map((team_id) => ({ team_id, project_ids: [] }));
  return { bindings, teams, linkable: null };
}
const UNBOUND = 'No team had bound the repository';
const HAD_IT = 'The same delivery came another way and was handled';
