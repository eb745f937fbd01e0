import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import type { Named } from '../grammar/asking/nearest.js';
import { calledBy, quote } from '../grammar/doubts/naming.js';
import type { ReadableLink } from '../sessions/read-links.js';
import type { LinkedFacts } from './reading/linked-facts.js';

/** What examples in answers name: tasks, a member and a project of the reader's own teams. */

/** $1 = user id, $2 = roles that may list tasks, $3 = team ids or null for all of the user's. The two newest open tasks, and an assignee beside the user. */
const statement = defineStatement({
  name: 'example_tasks',
  text: /* sql */ `
    select e.key || '-' || t.number as key, t.title, p.name as project, case when t.assigned_to <> $1 then u.display_name end as assignee
    from memberships m join teams e on e.team_id = m.team_id and e.deleted_at is null
    cross join lateral (
      select * from tasks t where t.team_id = m.team_id and t.deleted_at is null order by t.created_at desc, t.task_id desc limit 20
    ) t join projects p on p.project_id = t.project_id left join users u on u.user_id = t.assigned_to
    where m.user_id = $1 and m.role = any($2::text[]) and ($3::uuid[] is null or m.team_id = any($3)) and t.status <> 'done' and not t.is_archived
    order by t.created_at desc, t.task_id desc limit 20`,
});

interface Row extends Record<string, unknown> {
  key: string | null;
  title: string;
  project: string;
  assignee: string | null;
}

/** A name that reads as one in a sentence. */
const PLAIN = /^\p{L}[\p{L}\p{N}]*(?: [\p{L}\p{N}]+){0,3}$/u;
const plain = (name: string): string => (PLAIN.test(name) ? name : quote(name));
const defined = (named: Partial<Record<'T' | 'U' | 'P' | 'J', string | undefined>>): Named =>
  Object.fromEntries(Object.entries(named).filter(([, name]) => name !== undefined));

/** What examples name for a user who has written nothing that names a task. `teamIds`: null for all of the user's. */
export async function exampleNames(
  { db }: Pick<Context, 'db'>,
  userId: string,
  teamIds: readonly string[] | null,
): Promise<Named> {
  const rows = await run<Row>(db, statement, [userId, rolesFor('task.list'), teamIds]);
  const [first, second] = rows;
  const other = rows.find(({ assignee }) => assignee !== null && PLAIN.test(assignee))?.assignee;
  return defined({
    T: first && (first.key ?? quote(first.title)),
    U: second && (second.key ?? quote(second.title)),
    P: other ?? undefined,
    J: first && plain(first.project),
  });
}

/** What is linked comes first in examples; the rest is of the teams that it belongs to. */
export async function namesFor(
  ctx: Pick<Context, 'db'>,
  userId: string,
  links: readonly ReadableLink[],
  facts: ReadonlyMap<string, LinkedFacts>,
): Promise<Named> {
  const tasks = links.filter(({ item_type }) => item_type === 'task');
  const [one, other] = tasks.map(({ item_id, title }) => calledByKey(title, facts.get(item_id)?.key));
  const project = links.find(({ item_type }) => item_type === 'project')?.title;
  const teamIds = links.length > 0 ? [...new Set(links.map(({ team_id }) => team_id))] : null;
  const others = await exampleNames(ctx, userId, teamIds);
  const own = defined({ T: one, U: other, J: project && plain(project) });
  // Two examples of one task would relate it to itself.
  const spare = [others.T, others.U].find((each) => each !== own.T);
  return { ...others, ...(spare === undefined ? {} : { U: spare }), ...own };
}

const calledByKey = (title: string, key: string | null | undefined): string => key ?? calledBy({ title });
