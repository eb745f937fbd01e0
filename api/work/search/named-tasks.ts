import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';

/** A task as people call it: the key of its team, and its number there (docs/decisions/work.md#task-numbers). */
export interface TaskName {
  key: string;
  number: number;
}

const MAX_NUMBER = 2_147_483_647;

/** Reads `HAR-12` in any case; null for any other text. */
export function parseTaskName(text: string): TaskName | null {
  const [, key, digits] = /^([a-z][a-z0-9]{0,5})-(\d{1,10})$/i.exec(text.trim()) ?? [];
  const number = Number(digits);
  return key === undefined || number < 1 || number > MAX_NUMBER ? null : { key: key.toUpperCase(), number };
}

/** Writes it; null for a task that has no number yet, or whose team has no key. */
export const wordTaskName = (key: string | null | undefined, number: unknown): string | null =>
  key != null && typeof number === 'number' ? `${key}-${number}` : null;

/** A task that has a name, as a search shows it. */
export interface NamedTask extends Record<string, unknown> {
  item_id: string;
  title: string;
  status: string;
  project_id: string;
  project_name: string;
  team_id: string;
  team_name: string;
  updated_at: Date;
}

/** $1 = caller id, $2 = roles that may read, $3 = key, $4 = number. One look at the number in each team of the caller that has the key. */
const statement = defineStatement({
  name: 'find_named_tasks',
  text: /* sql */ `
    select t.task_id as item_id, t.title, t.status, t.project_id, p.name as project_name, e.team_id, e.name as team_name, t.updated_at
    from memberships m join teams e on e.team_id = m.team_id and e.key = $3 and e.deleted_at is null
    join tasks t on t.team_id = e.team_id and t.number = $4 and t.deleted_at is null join projects p on p.project_id = t.project_id
    where m.user_id = $1 and m.role = any($2::text[]) order by e.created_at, e.team_id`,
});

/** Finds live tasks of the caller's teams that people call by this name: more than one if teams share a key. */
export const findNamedTasks = (ctx: Context, { key, number }: TaskName): Promise<NamedTask[]> =>
  run<NamedTask>(ctx.db, statement, [requireUser(ctx), rolesFor('search.use'), key, number]);
