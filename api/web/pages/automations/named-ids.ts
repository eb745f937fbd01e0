import { isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { listSecrets } from '../../../automation/secrets/list-secrets.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { isUuid } from '../../../platform/ids.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { namesIn } from '../../wording/names.js';
import type { Draft } from './draft.js';

/** Projects and people that a form offers. */
const MAX_CHOICES = 200;

/** Returns the people, projects and secrets of a team that a form offers, as pairs of id and name. */
export async function listChoices(ctx: Context, me: User, teamId: string | null) {
  const team = me.teams.find(({ team_id }) => team_id === teamId);
  if (!team) return { people: [[me.user_id, 'You']], projects: [], secrets: [] };
  const keepsSecrets = isAllowed('secret.list', team.role as Seat) && isAdmitted('secret.list', ctx.actor);
  const [names, projects, secrets] = await Promise.all([
    namesIn(ctx, me, [team]),
    listProjects(ctx, { team_id: team.team_id, limit: MAX_CHOICES, offset: 0 }),
    keepsSecrets ? listSecrets(ctx, team.team_id) : null,
  ]);
  const parsed = projects.map((text) => JSON.parse(text) as { project_id: string; name: string });
  return {
    people: Object.entries(names).slice(0, MAX_CHOICES),
    projects: parsed.map(({ project_id, name }) => [project_id, name]),
    secrets: secrets?.secrets ?? [],
  };
}

/** Parameters that hold an id which the form offers by name. */
const NAMED = { project_id: 'projects', assigned_to: 'people' } as const;
const isNamed = (name: string): name is keyof typeof NAMED => Object.hasOwn(NAMED, name);

/**
 * Returns a definition in which the names of projects and people are their ids, as a user types what the list offers.
 * @throws INVALID_REQUEST a name of nobody, or of several
 */
export async function withNamedIds(ctx: Context, me: User, teamId: string | null, draft: Draft): Promise<Draft> {
  const isName = (name: string, value: unknown): value is string =>
    isNamed(name) && typeof value === 'string' && value !== '' && !isUuid(value) && !value.includes('{{');
  if (!draft.actions.some(({ params }) => Object.entries(params).some(([name, value]) => isName(name, value)))) return draft;
  const choices = await listChoices(ctx, me, teamId);
  const toId = (index: number, name: keyof typeof NAMED, value: string): string => {
    const found = choices[NAMED[name]].filter(([, known]) => known?.toLowerCase() === value.trim().toLowerCase());
    if (found.length === 1 && found[0]?.[0] !== undefined) return found[0][0];
    throw invalid(
      `actions[${index}].params.${name}: Choose ${found.length > 1 ? 'one, several have this name' : 'one of the list'}`,
    );
  };
  const actions = draft.actions.map((action, index) => ({
    ...action,
    params: Object.fromEntries(
      Object.entries(action.params).map(([name, value]) => [
        name,
        isNamed(name) && isName(name, value) ? toId(index, name, value) : value,
      ]),
    ),
  }));
  return { ...draft, actions };
}
