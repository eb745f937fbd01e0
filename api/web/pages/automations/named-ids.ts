import { isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { listSecrets } from '../../../automation/secrets/list-secrets.js';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import type { Member } from '../../../identity/teams/schema.js';
import type { Context } from '../../../platform/context.js';
import type { FieldError } from '../../../platform/errors.js';
import { isUuid } from '../../../platform/ids.js';
import { listCycles } from '../../../work/cycles/list-cycles.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { type BuilderForm, type FormStep, paramFieldName } from './builder-form.js';
import { findItems, type Found, readTitles, showItem } from './named-items.js';

/** Projects, cycles and people that a form offers; any other is typed by its name. */
export const MAX_CHOICES = 200;

/** An id, the name that a form shows for it, and whatever else a user may type for it. */
interface Choice {
  id: string;
  name: string;
  /** In lower case. */
  words: readonly string[];
}

/** People, projects, open cycles and secrets of a team, as a form offers them. */
export interface Choices {
  people: readonly Choice[];
  projects: readonly Choice[];
  cycles: readonly Choice[];
  stages: readonly Choice[];
  secrets: readonly string[];
}

const fold = (text: string): string => text.trim().toLowerCase();

/** Names that several have get what tells them apart. */
function toChoices(all: readonly { id: string; name: string; apart: string; words: readonly string[] }[]): Choice[] {
  const counts = new Map<string, number>();
  for (const { name } of all) counts.set(fold(name), (counts.get(fold(name)) ?? 0) + 1);
  return all.map(({ id, name, apart, words }) => {
    const shown = (counts.get(fold(name)) ?? 0) > 1 ? `${name} (${apart})` : name;
    return { id, name: shown, words: [name, shown, ...words].map(fold) };
  });
}

const toPeople = (members: readonly Member[], me: User): Choice[] =>
  toChoices(
    members.map(({ user_id, display_name, email, username, name }) => ({
      id: user_id,
      name: display_name,
      apart: email,
      words: [email, username, name, ...(user_id === me.user_id ? ['me', 'you'] : [])],
    })),
  );

/** Returns the people, projects, open cycles and secrets of a team; of projects and cycles as many as a form offers. */
export async function listChoices(ctx: Context, me: User, teamId: string | null): Promise<Choices> {
  const team = me.teams.find(({ team_id }) => team_id === teamId);
  if (!team) {
    const own = { id: me.user_id, name: me.display_name, apart: me.email, words: [me.email, me.username, 'me', 'you'] };
    return { people: toChoices([own]), projects: [], cycles: [], stages: [], secrets: [] };
  }
  const keepsSecrets = isAllowed('secret.list', team.role as Seat) && isAdmitted('secret.list', ctx.actor);
  const part = { team_id: team.team_id, limit: MAX_CHOICES, offset: 0 };
  const [members, projects, active, planned, stages, secrets] = await Promise.all([
    listMembers(ctx, team.team_id),
    listProjects(ctx, part),
    listCycles(ctx, { ...part, status: 'active' }),
    listCycles(ctx, { ...part, status: 'planned' }),
    findStages(ctx, [team.team_id]),
    keepsSecrets ? listSecrets(ctx, team.team_id) : null,
  ]);
  const parsed = projects.map((text) => JSON.parse(text) as { project_id: string; name: string });
  const named = (id: string, name: string) => ({ id, name, apart: id.slice(-6), words: [] });
  return {
    people: toPeople(members, me),
    projects: toChoices(parsed.map(({ project_id, name }) => named(project_id, name))),
    cycles: toChoices([...active, ...planned].map(({ cycle_id, name }) => named(cycle_id, name))),
    stages: toChoices(stages.map(({ stage_id, name }) => named(stage_id, name))),
    secrets: secrets?.secrets ?? [],
  };
}

/** Parameters that hold ids which the form shows and takes as names. */
const NAMED = {
  project_id: 'projects',
  assigned_to: 'people',
  user_ids: 'people',
  cycle_id: 'cycles',
  stage_id: 'stages',
  task_id: 'tasks',
  parent_task_id: 'tasks',
  source_id: 'items',
  target_id: 'items',
} as const;
type Kind = (typeof NAMED)[keyof typeof NAMED];
/** Returns whose names a parameter takes; undefined for any other. */
export const namesFor = (name: string): Kind | undefined =>
  Object.hasOwn(NAMED, name) ? NAMED[name as keyof typeof NAMED] : undefined;
/** Returns what of the names of a kind the form offers; tasks and items are typed only. */
const offered = (kind: Kind, choices: Choices): readonly Choice[] => (kind === 'tasks' || kind === 'items' ? [] : choices[kind]);

/** Names of one field; the action refuses more of them than this as they are. */
const MAX_LINES = 500;
const lines = (text: string): string[] => text.split(/\r?\n/);

const isName = (text: string): boolean => text.trim() !== '' && !isUuid(text.trim()) && !text.includes('{{');

const NOBODY: Readonly<Record<Kind, string>> = {
  people: 'Nobody in the team',
  projects: 'No project of the team',
  cycles: 'No open cycle of the team',
  stages: 'No stage of the team',
  tasks: 'No task of the team',
  items: 'No item of the team',
};

/** What is wrong with a name, and what else may be meant. */
function doubt(text: string, kind: Kind, found: Found): string {
  const shown = text.trim().length > 60 ? `${text.trim().slice(0, 60)}…` : text.trim();
  const list = found.others.map((one) => `“${one}”`).join(', ');
  if (found.same > 1) return `Several have the name “${shown}”: choose one of ${list}`;
  return `${NOBODY[kind]} is called “${shown}”${list === '' ? '' : `. Did you mean ${list}?`}`;
}

/** Names of one kind that a message lists. */
const MAX_LISTED = 5;
const findOffered = (text: string, kind: Kind, choices: Choices): Found => {
  const found = offered(kind, choices).filter(({ words }) => words.includes(fold(text)));
  const [only] = found.length === 1 ? found : [];
  return { id: only?.id, same: found.length, others: found.slice(0, MAX_LISTED).map(({ name }) => name) };
};

/** Returns the text of a parameter with names in place of ids, one on each line. An id stays if it has no name, or one that is read as something else. */
export function withNames(name: string, text: string, choices: Choices, titles: ReadonlyMap<string, string>): string {
  const kind = namesFor(name);
  if (kind === undefined) return text;
  const known = new Map(offered(kind, choices).map(({ id, name: shown }) => [id, shown]));
  const nameOf = (id: string): string => {
    const title = kind === 'tasks' || kind === 'items' ? titles.get(id) : undefined;
    const shown = title === undefined ? (known.get(id) ?? id) : showItem(title, id);
    const isRead = isName(shown) && lines(shown).length === 1;
    return isRead && (title !== undefined || findOffered(shown, kind, choices).id === id) ? shown : id;
  };
  return lines(text).map(nameOf).join('\n');
}

/** Returns the present titles of the tasks and items that a form names by id. */
export const titlesIn = (ctx: Context, me: User, { steps }: Pick<BuilderForm, 'steps'>): Promise<ReadonlyMap<string, string>> =>
  readTitles(
    ctx,
    me,
    steps.flatMap(({ params }) =>
      params.filter(({ name }) => ['tasks', 'items'].includes(namesFor(name) ?? '')).map(({ text }) => text.trim()),
    ),
  );

/** Returns a form in which the names of people, projects, cycles and items are their ids, and the fields with a name of nobody, or of several. */
export async function withNamedIds(
  ctx: Context,
  me: User,
  teamId: string | null,
  form: BuilderForm,
): Promise<{ form: BuilderForm; errors: FieldError[] }> {
  const hasNames = ({ name, text, isJson }: FormStep['params'][number]): boolean =>
    !isJson && namesFor(name) !== undefined && lines(text).length <= MAX_LINES && lines(text).some(isName);
  const named = form.steps.flatMap(({ params }) => params.filter(hasNames));
  if (named.length === 0) return { form, errors: [] };
  const choices = await listChoices(ctx, me, teamId);
  const wanted = named.flatMap(({ name, text }) =>
    lines(text).flatMap((line) => {
      const kind = namesFor(name) as Kind;
      return isName(line) &&
        kind !== 'people' &&
        kind !== 'cycles' &&
        kind !== 'stages' &&
        findOffered(line, kind, choices).same === 0
        ? [{ text: line.trim(), kind }]
        : [];
    }),
  );
  const items = await findItems(ctx, me, teamId, wanted);
  const errors: FieldError[] = [];
  const steps = form.steps.map((step, index) => ({
    ...step,
    params: step.params.map((param) => {
      const kind = namesFor(param.name);
      if (!hasNames(param) || kind === undefined) return param;
      const field = paramFieldName(index, param.name, false);
      const read: string[] = [];
      for (const line of lines(param.text)) {
        const found = isName(line) ? (items.get(`${kind} ${line.trim()}`) ?? findOffered(line, kind, choices)) : undefined;
        if (found && found.id === undefined) {
          errors.push({ field, message: doubt(line, kind, found), type: 'custom' });
          return param;
        }
        read.push(found?.id ?? line);
      }
      return { ...param, text: read.join('\n') };
    }),
  }));
  return { form: { ...form, steps }, errors };
}

/** Returns names of the people, projects, cycles and stages that a definition of a team may name, by id. */
export async function namesOfIds(ctx: Context, me: User, teamId: string | null): Promise<Readonly<Record<string, string>>> {
  const { people, projects, cycles, stages } = await listChoices(ctx, me, teamId);
  return Object.fromEntries([...people, ...projects, ...cycles, ...stages].map(({ id, name }) => [id, name]));
}
