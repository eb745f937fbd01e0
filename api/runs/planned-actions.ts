import { run } from '../../db/statement.js';
import { withDefaults } from '../actions/registry.js';
import { renderTemplates } from '../automations/language/template.js';
import type { Context } from '../core/context.js';
import { namesOfTeamsStatement } from './planned-actions.sql.js';
import { truncateText } from './record/rules.js';

/** One parameter of an action, as people read it. */
interface PlannedFact {
  name: string;
  value: string;
}
export interface PlannedAction {
  type: string;
  name: string | null;
  facts: PlannedFact[];
}
interface Definition {
  type: string;
  name?: string | null;
  params?: Record<string, unknown>;
}

/** Longest value in a list of runs or in an email, in code points; the run's page shows all of it. */
const MAX_VALUE_LENGTH = 300;

/** Words for parameters whose own name says too little. */
const LABELS: Readonly<Record<string, string>> = {
  task_id: 'task',
  parent_task_id: 'parent task',
  assigned_to: 'assignee',
  user_ids: 'to',
  role: 'to everyone who is at least',
  content: 'text',
  due_date: 'due',
};
const TASK_PARAMS = ['task_id', 'parent_task_id'];
const USER_PARAMS = ['user_ids', 'assigned_to'];

const printed = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const handle = (name: string): string => `{{secret:${name}}}`;

/** Fills one parameter in from the event; as it is written where the event lacks what it names. A secret stays a reference. */
function filledIn(value: unknown, event: object): unknown {
  const filled = renderTemplates({ value }, event, { secrets: handle });
  return filled.ok ? (filled.value as { value: unknown }).value : value;
}

/** Names of tasks and users by team and id. */
export type Names = (teamId: string | null, id: string) => string | undefined;

/** Returns an action with its parameters as a run would perform it, for people who decide about it. */
export function planAction(
  { type, name = null, params = {} }: Definition,
  event: Readonly<Record<string, unknown>>,
  { teamId, names }: { teamId: string | null; names: Names },
): PlannedAction {
  const { task } = event as { task?: { task_id?: unknown; title?: unknown } | null };
  const nameOf = (id: unknown): string =>
    id === task?.task_id && typeof task?.title === 'string' ? task.title : (names(teamId, printed(id)) ?? printed(id));
  const whole = withDefaults(type, params, event, { project_id: null });
  const facts = Object.entries(whole).flatMap(([key, value]) => {
    const filled = filledIn(value, event);
    if (filled === undefined || filled === null) return [];
    const isId = TASK_PARAMS.includes(key) || USER_PARAMS.includes(key);
    const text = isId ? [filled].flat().map(nameOf).join(', ') : printed(filled);
    return [{ name: LABELS[key] ?? key.replaceAll('_', ' '), value: truncateText(text, MAX_VALUE_LENGTH) }];
  });
  return { type, name, facts };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface Named extends Record<string, unknown> {
  team_id: string;
  id: string;
  name: string;
}

/** Looks up the tasks and users that actions name by id, each in the team of its run. */
export async function namesFor(
  ctx: Pick<Context, 'db'>,
  actions: readonly { teamId: string | null; params: Record<string, unknown> }[],
): Promise<Names> {
  const idsIn = (keys: readonly string[], isId: (id: string) => boolean): [string, string][] =>
    actions.flatMap(({ teamId, params }) =>
      keys
        .flatMap((key) => [params[key]].flat())
        .filter((id): id is string => typeof id === 'string' && isId(id))
        .flatMap((id): [string, string][] => (teamId === null ? [] : [[teamId, id]])),
    );
  const tasks = idsIn(TASK_PARAMS, (id) => !id.includes('{{'));
  const users = idsIn(USER_PARAMS, (id) => UUID.test(id));
  if (tasks.length + users.length === 0) return () => undefined;
  const columns = [tasks, users].flatMap((pairs) => [pairs.map(([team]) => team), pairs.map(([, id]) => id)]);
  const rows = await run<Named>(ctx.db, namesOfTeamsStatement, columns);
  const known = new Map(rows.map(({ team_id, id, name }) => [`${team_id} ${id}`, name]));
  return (teamId, id) => known.get(`${teamId} ${id.toLowerCase()}`) ?? known.get(`${teamId} ${id}`);
}
