import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import type { ReadableLink } from '../sessions/read-links.js';

/** Items that a summary describes; the others are counted. */
export const DESCRIBED = 10;
/** Open tasks of a project that are counted. */
const MAX_COUNTED = 1_000;

/** $1 = task ids, $2 = project ids. */
const statement = defineStatement({
  name: 'linked_facts',
  text: /* sql */ `
    select t.task_id as item_id, t.priority, left(t.due_date, 10) as due, u.display_name as assignee, null::int as open_tasks
    from tasks t left join users u on u.user_id = t.assigned_to where t.task_id = any($1::text[])
    union all
    select p.project_id::text, null, p.end_date::text, null, (select count(*)::int from (
      select from tasks t where t.project_id = p.project_id and t.deleted_at is null and t.status <> 'done' limit ${MAX_COUNTED}) few)
    from projects p where p.project_id = any($2::uuid[])`,
});

/** What a summary says of an item beside its title and status. */
export interface LinkedFacts extends Record<string, unknown> {
  item_id: string;
  priority: string | null;
  due: string | null;
  assignee: string | null;
  /** Of a project. */
  open_tasks: number | null;
}

/** Reads facts of the first linked tasks and projects. The caller has checked that the person may read them. */
export async function readFacts({ db }: Pick<Context, 'db'>, links: readonly ReadableLink[]): Promise<Map<string, LinkedFacts>> {
  const ids = (type: string): string[] =>
    links.slice(0, DESCRIBED).flatMap(({ item_type, item_id }) => (item_type === type ? [item_id] : []));
  const rows = await run<LinkedFacts>(db, statement, [ids('task'), ids('project')]);
  return new Map(rows.map((row) => [row.item_id, row]));
}
