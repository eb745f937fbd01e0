import { isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { listSecrets } from '../../../automation/secrets/list-secrets.js';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import type { Member } from '../../../identity/teams/schema.js';
import type { Context } from '../../../platform/context.js';
import type { FieldError } from '../../../platform/errors.js';
import { isUuid } from '../../../platform/ids.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { type BuilderForm, type FormStep, paramFieldName } from './builder-form.js';

/** Projects and people that a form offers. */
const MAX_CHOICES = 200;

/** An id, the name that a form shows for it, and whatever else a user may type for it. */
interface Choice {
  id: string;
  name: string;
  /** In lower case. */
  words: readonly string[];
}

/** People, projects and secrets of a team, as a form offers them. */
export interface Choices {
  people: readonly Choice[];
  projects: readonly Choice[];
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

/** Returns the people, projects and secrets of a team that a form offers. */
export async function listChoices(ctx: Context, me: User, teamId: string | null): Promise<Choices> {
  const team = me.teams.find(({ team_id }) => team_id === teamId);
  if (!team) {
    const own = { id: me.user_id, name: me.display_name, apart: me.email, words: [me.email, me.username, 'me', 'you'] };
    return { people: toChoices([own]), projects: [], secrets: [] };
  }
  const keepsSecrets = isAllowed('secret.list', team.role as Seat) && isAdmitted('secret.list', ctx.actor);
  const [members, projects, secrets] = await Promise.all([
    listMembers(ctx, team.team_id),
    listProjects(ctx, { team_id: team.team_id, limit: MAX_CHOICES, offset: 0 }),
    keepsSecrets ? listSecrets(ctx, team.team_id) : null,
  ]);
  const parsed = projects.map((text) => JSON.parse(text) as { project_id: string; name: string });
  return {
    people: toPeople(members, me).slice(0, MAX_CHOICES),
    projects: toChoices(parsed.map(({ project_id, name }) => ({ id: project_id, name, apart: project_id.slice(-6), words: [] }))),
    secrets: secrets?.secrets ?? [],
  };
}

/** Parameters that hold ids which the form shows and takes as names. */
const NAMED = { project_id: 'projects', assigned_to: 'people', user_ids: 'people' } as const;
/** Returns whose names a parameter takes; undefined for any other. */
export const namesFor = (name: string): 'people' | 'projects' | undefined =>
  Object.hasOwn(NAMED, name) ? NAMED[name as keyof typeof NAMED] : undefined;

const lines = (text: string): string[] => text.split(/\r?\n/);

const isName = (text: string): boolean => text.trim() !== '' && !isUuid(text.trim()) && !text.includes('{{');

/** What is wrong with a name. */
function doubt(text: string, kind: 'people' | 'projects', found: number): string {
  const shown = text.trim().length > 60 ? `${text.trim().slice(0, 60)}…` : text.trim();
  if (found > 1) return `Several have the name “${shown}”: choose one of the list`;
  return kind === 'people' ? `Nobody in the team is called “${shown}”` : `No project of the team is called “${shown}”`;
}

/** Reads the names of one text. Returns the ids in their place, or what is wrong. */
function readNames(text: string, kind: 'people' | 'projects', choices: Choices): { text: string } | { problem: string } {
  const read: string[] = [];
  for (const line of lines(text)) {
    const found = isName(line) ? choices[kind].filter(({ words }) => words.includes(fold(line))) : [];
    if (isName(line) && found.length !== 1) return { problem: doubt(line, kind, found.length) };
    read.push(found[0]?.id ?? line);
  }
  return { text: read.join('\n') };
}

/** Returns the text of a parameter with names in place of ids, one on each line. An id stays if it has no name, or one that is read as something else. */
export function withNames(name: string, text: string, choices: Choices): string {
  const kind = namesFor(name);
  if (kind === undefined) return text;
  const known = new Map(choices[kind].map(({ id, name: shown }) => [id, shown]));
  const nameOf = (id: string): string => {
    const shown = known.get(id) ?? id;
    const read = readNames(shown, kind, choices);
    return 'text' in read && read.text === id ? shown : id;
  };
  return lines(text).map(nameOf).join('\n');
}

/** Returns a form in which the names of projects and people are their ids, and the fields with a name of nobody, or of several. */
export async function withNamedIds(
  ctx: Context,
  me: User,
  teamId: string | null,
  form: BuilderForm,
): Promise<{ form: BuilderForm; errors: FieldError[] }> {
  const hasNames = ({ name, text, isJson }: FormStep['params'][number]): boolean =>
    !isJson && namesFor(name) !== undefined && lines(text).some(isName);
  if (!form.steps.some(({ params }) => params.some(hasNames))) return { form, errors: [] };
  const choices = await listChoices(ctx, me, teamId);
  const errors: FieldError[] = [];
  const steps = form.steps.map((step, index) => ({
    ...step,
    params: step.params.map((param) => {
      const kind = namesFor(param.name);
      if (!hasNames(param) || kind === undefined) return param;
      const read = readNames(param.text, kind, choices);
      if ('text' in read) return { ...param, ...read };
      errors.push({ field: paramFieldName(index, param.name, false), message: read.problem, type: 'custom' });
      return param;
    }),
  }));
  return { form: { ...form, steps }, errors };
}

/** Returns names of the people and projects that a definition of a team may name, by id. */
export async function namesOfIds(ctx: Context, me: User, teamId: string | null): Promise<Readonly<Record<string, string>>> {
  const { people, projects } = await listChoices(ctx, me, teamId);
  return Object.fromEntries([...people, ...projects].map(({ id, name }) => [id, name]));
}
