import type { Context } from '../../platform/context.js';
import { calledBy, quote } from '../grammar/doubts/naming.js';
import type { TaskSet } from '../grammar/outcome.js';
import type { ReadableLink } from '../sessions/read-links.js';
import { plural } from './answer-words.js';
import type { ClaimedTurn } from './claim-turn.js';
import { findTasks, type FoundTask, MAX_COUNTED, mayReadTasks } from './find-tasks.js';
import { type ReadByRules, zoneOf } from './reading/read-world.js';

/** Sets of one message of which an answer tells what they leave out. */
const MAX_SETS = 3;
/** Tasks and projects that it names. */
const NAMED = 5;

/** What a message leaves out, because it is not linked. */
interface LeftOut {
  text: string;
  /** Tasks that it names. */
  tasks: readonly FoundTask[];
  /** Whether these are all of them. */
  isAll: boolean;
}

const joined = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** Says which tasks of a set are not linked, and how to take them. */
function leftWords(written: string, tasks: readonly FoundTask[]): string {
  const shown = tasks.slice(0, NAMED).map((task) => `${calledBy(task)} in ${quote(task.project_title)}`);
  const more = tasks.length > NAMED ? [`${tasks.length > MAX_COUNTED ? 'many' : tasks.length - NAMED} more`] : [];
  const projects = [...new Set(tasks.map(({ project_title }) => quote(project_title)))];
  const few =
    projects.length > NAMED ? 'their projects' : `the ${projects.length === 1 ? 'project' : 'projects'} ${joined(projects)}`;
  const count = plural(tasks.length, 'task of the team fits', 'tasks of the team fit');
  return `Left out: ${count} ${quote(written)} too, but neither the task nor its project is linked: ${joined([...shown, ...more])}. To take them, link ${few} and send the message again.`;
}

/**
 * Tells which tasks of the teams have what a message asks for, although they are not linked, so that it changes nothing of them. Nothing where the
 * token may not read tasks.
 */
export async function findLeftOut(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  { world }: ReadByRules,
  sets: readonly TaskSet[],
): Promise<LeftOut | undefined> {
  if (sets.length === 0 || !(await mayReadTasks(ctx, turn.token_id))) return undefined;
  const known = new Set([...world.items, ...(world.beyond?.coveredTasks?.items ?? [])].map(({ id }) => id));
  const asking = { teamIds: [...new Set(links.map(({ team_id }) => team_id))], timezone: zoneOf(turn), today: world.today };
  const found = new Map<string, FoundTask>();
  const texts = new Set<string>();
  for (const { written, filter, people } of sets.slice(0, MAX_SETS)) {
    const tasks = (await findTasks(ctx, filter, people, asking)).filter(({ id }) => !known.has(id));
    if (tasks.length > 0) texts.add(leftWords(written, tasks));
    for (const task of tasks) found.set(task.id, task);
  }
  const tasks = [...found.values()];
  return tasks.length === 0
    ? undefined
    : { text: [...texts].join('\n\n'), tasks: tasks.slice(0, NAMED), isAll: tasks.length <= NAMED };
}
