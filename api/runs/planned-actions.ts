import { run } from '../../db/statement.js';
import { withDefaults } from '../actions/registry.js';
import { renderTemplates } from '../automations/language/template.js';
import type { Context } from '../core/context.js';
import { withVisibleNames } from '../core/validation/invisible.js';
import { type Facts, factsOf, subjectOf } from './event-facts.js';
import { namesOfTeamsStatement } from './planned-actions.sql.js';
import { truncateText } from './record/rules.js';

/** One parameter of an action, as people read it. */
interface PlannedFact {
  name: string;
  value: string;
  /** Page of the task that the value names. */
  href?: string;
}
export interface PlannedAction {
  type: string;
  name: string | null;
  facts: PlannedFact[];
  /** False if a value is cut here: whoever decides reads it on the page of the run. */
  isWhole: boolean;
}
export interface Definition {
  type: string;
  name?: string | null;
  params?: Record<string, unknown>;
}

/** A run whose actions somebody decides about, with its event or what its actions quote of it. */
interface Planned {
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  trigger_type: string;
  event: Readonly<Record<string, unknown>>;
  actions: readonly Definition[];
}

export interface Plan {
  /** By what people recognize the run. */
  facts: Facts;
  subject: string | null;
  actions: PlannedAction[];
}

/** Words for parameters whose own name says too little. */
const LABELS: Readonly<Record<string, string>> = {
  task_id: 'task',
  project_id: 'project',
  parent_task_id: 'parent task',
  assigned_to: 'assignee',
  user_ids: 'to',
  role: 'to everyone who is at least',
  content: 'text',
  due_date: 'due',
};
const KINDS: Readonly<Record<string, 'task' | 'user' | 'project'>> = {
  task_id: 'task',
  parent_task_id: 'task',
  source_id: 'task',
  target_id: 'task',
  user_ids: 'user',
  assigned_to: 'user',
  project_id: 'project',
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const printed = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const handle = (name: string): string => `{{secret:${name}}}`;

/** Fills one parameter in from the event; as it is written where the event lacks what it names. A secret stays a reference. */
function filledIn(value: unknown, event: object): unknown {
  const filled = renderTemplates({ value }, event, { secrets: handle });
  return filled.ok ? (filled.value as { value: unknown }).value : value;
}

/** Returns the parameters of an action as the run performs it. */
const valuesOf = ({ type, params = {} }: Definition, { event, project_id }: Planned): [string, unknown][] =>
  Object.entries(withDefaults(type, params, event, { project_id }))
    .map(([key, value]): [string, unknown] => [key, filledIn(value, event)])
    .filter(([, value]) => value !== undefined);

const idsOf = (value: unknown): string[] => [value].flat().filter((id): id is string => typeof id === 'string');

/** Ids that the event itself names. */
function aboutIn({ event }: Planned): [string, unknown][] {
  const { task, project } = event as { task?: { task_id?: unknown } | null; project?: { project_id?: unknown } | null };
  return [
    ['task_id', task?.task_id],
    ['project_id', project?.project_id],
  ];
}

interface Named extends Record<string, unknown> {
  place: string;
  id: string;
  name: string;
}

/** Name of a task, user or project of a run; undefined for what its team, or the creator of a personal automation, cannot read. */
type Names = (run: Planned, id: unknown) => string | undefined;

const placeOf = ({ team_id, creator_id }: Planned): string => team_id ?? creator_id;

/** Looks up what runs name by id. Names come from the database: an event may say anything. */
async function namesFor(ctx: Pick<Context, 'db'>, runs: readonly Planned[], values: [string, unknown][][]): Promise<Names> {
  const wanted = { task: [[], []], user: [[], []], project: [[], []] } as Record<string, [string[], string[]]>;
  for (const [at, run] of runs.entries()) {
    for (const [key, value] of [...(values[at] ?? []), ...aboutIn(run), ['assigned_to', run.creator_id] as const]) {
      const kind = KINDS[key];
      if (kind === undefined) continue;
      for (const id of idsOf(value).filter((one) => kind === 'task' || UUID.test(one))) {
        wanted[kind]?.[0].push(placeOf(run));
        wanted[kind]?.[1].push(id);
      }
    }
  }
  const rows = await run<Named>(ctx.db, namesOfTeamsStatement, Object.values(wanted).flat());
  const known = new Map(rows.map(({ place, id, name }) => [`${place} ${id}`, name]));
  return (of, id) => known.get(`${placeOf(of)} ${String(id)}`) ?? known.get(`${placeOf(of)} ${String(id).toLowerCase()}`);
}

function factOf(run: Planned, names: Names, [key, value]: [string, unknown]): PlannedFact {
  const name = LABELS[key] ?? key.replaceAll('_', ' ');
  const kind = KINDS[key];
  if (value === null) return { name, value: 'none' };
  if (kind === undefined) return { name, value: withVisibleNames(printed(value)) };
  const text = [value].flat().map((id) => names(run, id) ?? printed(id));
  const page = kind !== 'user' && typeof value === 'string' && names(run, value) !== undefined;
  return {
    name,
    value: withVisibleNames(text.join(', ')),
    ...(page && { href: `/app/items/${encodeURIComponent(value)}` }),
  };
}

/**
 * Returns the actions of runs as the runs would perform them, for people who decide about them: every parameter, values filled in before they are
 * printed, and names from the database. `maxLength`: of a value, in code points.
 */
export async function planRuns(ctx: Pick<Context, 'db'>, runs: readonly Planned[], maxLength = Infinity): Promise<Plan[]> {
  const values = runs.map((run) => run.actions.map((action) => valuesOf(action, run)));
  const names = await namesFor(
    ctx,
    runs,
    values.map((ofRun) => ofRun.flat()),
  );
  return runs.map((run, at) => {
    const [task, project] = aboutIn(run).map(([, id]) => names(run, id));
    const facts = factsOf(run.trigger_type === 'manual' ? {} : run.event, { task, project });
    const actions = run.actions.map(({ type, name = null }, index): PlannedAction => {
      const whole = (values[at]?.[index] ?? []).map((pair) => factOf(run, names, pair));
      const shown = whole.map((fact) => ({ ...fact, value: truncateText(fact.value, maxLength) }));
      const isWhole = shown.every(({ value }, of) => value === whole[of]?.value);
      return { type, name: name === null ? null : withVisibleNames(name), facts: shown, isWhole };
    });
    return { facts, subject: subjectOf(facts), actions };
  });
}

/** Returns the name of the user as whom a run acts, if the run's team can read it. */
export async function actorName(ctx: Pick<Context, 'db'>, run: Planned): Promise<string | undefined> {
  return (await namesFor(ctx, [run], []))(run, run.creator_id);
}
