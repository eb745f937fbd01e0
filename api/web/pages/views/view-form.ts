import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { DUE_RANGES, LAYOUTS, VIEW_ENTITIES } from '../../../work/saved-views/rules.js';
import { CreateSavedView, ViewFilters } from '../../../work/saved-views/schema.js';
import { TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import type { Fields } from '../../server/read-form.js';
import { namesIn, stageNames } from '../../wording/names.js';
import { parseInput, Ticked } from '../projects/form-fields.js';
import { loadOpenCycles } from '../projects/task-list.js';

/** Choices of one select; the API takes any. */
const MAX_CHOICES = 200;

const orNothing = (value: unknown): unknown => (value === '' ? undefined : value);
const Optional = (max: number) => z.preprocess(orNothing, z.string().max(max).optional());

/** Splits at commas. */
const Listed = Optional(2_000).transform((text) =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Values by key, from lines such as `severity = high`; a repeated key has several values. */
const FieldLines = Optional(5_000).transform((text, { issues, value }) => {
  const values = new Map<string, string[]>();
  for (const line of (text ?? '').split(/\r?\n/).filter((each) => each.trim() !== '')) {
    const at = line.indexOf('=');
    if (at < 1) {
      issues.push({ code: 'custom', message: 'must have lines of a key, = and a value', input: value });
      return {};
    }
    const key = line.slice(0, at).trim();
    values.set(key, [...(values.get(key) ?? []), line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(values);
});

export const ViewForm = z.object({
  name: CreateSavedView.shape.name,
  entity_type: z.enum(VIEW_ENTITIES),
  team_id: z.preprocess(orNothing, z.string().optional()),
  is_shared: z
    .string()
    .optional()
    .transform((value) => value !== undefined),
  q: Optional(500),
  status: Ticked,
  priority: Ticked.pipe(z.array(z.enum(TASK_PRIORITIES))),
  assigned_to: Ticked,
  created_by: Ticked,
  cycle_id: Ticked,
  stage_id: Ticked,
  project_id: Ticked,
  tags: Listed,
  due: z.preprocess(orNothing, z.enum(DUE_RANGES).optional()),
  due_after: Optional(40),
  due_before: Optional(40),
  custom_fields: FieldLines,
  // Filters whose values are left out.
  not: Ticked,
  sort: Optional(80),
  direction: z.enum(['asc', 'desc']).default('asc'),
  // Without the field the view keeps its groups; empty, it has none.
  group_by: z
    .string()
    .max(80)
    .transform((value) => (value === '' ? null : value))
    .optional(),
  layout: z.enum(LAYOUTS),
});

/** Returns the filters of a form as they were typed. Those that are left empty are absent: not each entity has all of them. */
export function typedFilters(form: Omit<z.output<typeof ViewForm>, 'name' | 'entity_type'>): ViewFilters {
  const { q, status, priority, assigned_to, created_by, cycle_id, stage_id, project_id, tags, due, due_after, due_before } = form;
  const { custom_fields, not } = form;
  const given = {
    q,
    status,
    priority,
    assigned_to,
    created_by,
    cycle_id,
    stage_id,
    project_id,
    tags,
    due,
    due_after,
    due_before,
    custom_fields,
  };
  const isSet = (value: unknown): boolean =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined;
  const named = Object.entries(given).filter(([, value]) => isSet(value));
  return Object.fromEntries(named.map(([name, value]) => [not.includes(name) ? `not_${name}` : name, value]));
}

/** Returns the filters of a form as the operations take them. @throws VALIDATION_ERROR */
export const resolveFilters = (form: Parameters<typeof typedFilters>[0]): ViewFilters =>
  parseInput(ViewFilters, typedFilters(form));

/** Returns what was chosen in a form that is shown again. */
export const chosenIn = (
  form: Fields,
): Record<'status' | 'priority' | 'assigned_to' | 'created_by' | 'cycle_id' | 'stage_id' | 'project_id' | 'not', string[]> => {
  const chosen = (name: string): string[] => Ticked.safeParse(form[name]).data ?? [];
  return {
    status: chosen('status'),
    priority: chosen('priority'),
    assigned_to: chosen('assigned_to'),
    created_by: chosen('created_by'),
    cycle_id: chosen('cycle_id'),
    stage_id: chosen('stage_id'),
    project_id: chosen('project_id'),
    not: chosen('not'),
  };
};

/** Returns people, projects, open cycles and stages of the user's teams by id, for the choices of the form. */
export async function listChoices(
  ctx: Context,
  user: User,
): Promise<Record<'people' | 'projects' | 'cycles' | 'stages', [string, string][]>> {
  const teams = user.teams.map(({ team_id }) => team_id);
  const [names, projects, cycles, stages] = await Promise.all([
    namesIn(ctx, user, user.teams.slice(0, 20)),
    listProjects(ctx, { limit: MAX_CHOICES, offset: 0 }),
    loadOpenCycles(ctx, teams),
    stageNames(ctx, user),
  ]);
  return {
    people: Object.entries(names).slice(0, MAX_CHOICES),
    cycles: cycles.map(({ cycle_id, name }) => [cycle_id, name]),
    stages: Object.entries(stages).slice(0, MAX_CHOICES),
    projects: projects
      .map((text) => JSON.parse(text) as { project_id: string; name: string })
      .map((each) => [each.project_id, each.name]),
  };
}
