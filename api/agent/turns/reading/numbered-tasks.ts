import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { parseTaskName, type TaskName } from '../../../work/search/named-tasks.js';
import type { LinkedItem } from '../../grammar/tokens.js';

/** Tasks that one message may name by their numbers; one that names more names none. */
const MAX_NAMES = 12;
/** `HAR-12`, alone between words: no part of an address, a path or a longer name. */
const NAME = /(?<![\p{L}\p{N}\p{M}_./@#-])[a-z][a-z0-9]{0,5}-\d{1,10}(?![\p{L}\p{N}\p{M}_/@-]|\.[\p{L}\p{N}])/giu;

/** $1 = user id, $2 = roles that may let the agent read, $3 = keys of teams, $4 = numbers, one a key, $5 = row limit. */
const statement = defineStatement({
  name: 'tasks_by_number',
  text: /* sql */ `
    select t.task_id as id, t.title, t.status, t.team_id, t.project_id::text as project_id, p.name as project_title, e.key || '-' || t.number as key
    from memberships m join teams e on e.team_id = m.team_id and e.deleted_at is null
    join unnest($3::text[], $4::int[]) as given(key, number) on given.key = e.key
    join tasks t on t.team_id = e.team_id and t.number = given.number and t.deleted_at is null and not t.is_archived
    join projects p on p.project_id = t.project_id
    where m.user_id = $1 and m.role = any($2::text[]) order by t.task_id limit $5`,
});

/** A task that a message names by its number. */
type Numbered = LinkedItem & { key: string };

/** The names in a message, each once. */
const namesIn = (message: string): TaskName[] =>
  [...new Set([...message.matchAll(NAME)].map(([name]) => name.toUpperCase()))].flatMap((name) => parseTaskName(name) ?? []);

/** Whether one of the messages names the task by its number. */
export function isNumberedIn(messages: readonly string[], { key }: Pick<LinkedItem, 'key'>): boolean {
  return key != null && messages.some((message) => [...message.matchAll(NAME)].some(([name]) => name.toUpperCase() === key));
}

/**
 * The tasks that a message names by their numbers, as far as the user may let the agent read them. Empty where teams share a number, so that it is
 * not certain which one is meant.
 */
export async function findNumbered({ db }: Pick<Context, 'db'>, userId: string, message: string): Promise<Numbered[]> {
  const names = namesIn(message);
  if (names.length === 0 || names.length > MAX_NAMES) return [];
  const [keys, numbers] = [names.map(({ key }) => key), names.map(({ number }) => number)];
  const values = [userId, rolesFor('agent.link'), keys, numbers, 2 * MAX_NAMES];
  const found = await run<Numbered & Record<string, unknown>>(db, statement, values);
  const isShared = new Set(found.map(({ key }) => key)).size < found.length;
  return isShared ? [] : found.map((row) => ({ ...row, type: 'task', isLinked: false }));
}

/** How many tasks a message names by their numbers. */
export const countNumbers = (message: string): number => namesIn(message).length;
