import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import type { ReadableLink } from '../../sessions/read-links.js';

/** Items that a summary describes; the others are counted. */
export const DESCRIBED = 10;
/** Open tasks of a project that are counted. */
const MAX_COUNTED = 1_000;

/** SQL: whether an open task, which the user $USER with one of the roles $ROLES may read, blocks task t. */
export const isBlockedSql = (user: string, roles: string): string => /* sql */ `exists (
  select from relations r join tasks b on b.task_id = r.from_id
  where r.to_id = t.task_id and r.kind = 'blocks' and b.deleted_at is null and b.status <> 'done'
    and b.team_id in (select m.team_id from memberships m where m.user_id = ${user} and m.role = any(${roles})))`;

/** SQL: name and state of the cycle of a task t, or null. */
export const CYCLE = `(select jsonb_build_object('name', c.name, 'status', c.status) from cycles c where c.cycle_id = t.cycle_id)`;

/** $1 = task ids, $2 = project ids, $3 = user id, $4 = roles that may list tasks. */
const statement = defineStatement({
  name: 'linked_facts',
  text: /* sql */ `
    select t.task_id as item_id, e.key || '-' || t.number as key, p.name as project_title, t.priority, left(t.due_date, 10) as due, u.display_name as assignee, t.assigned_to, t.resolution,
      (select s.name from stages s where s.stage_id = t.stage_id) as stage, ${CYCLE} as cycle,
      (select jsonb_object_agg(lower(f.name), custom_value_words(f, custom_field_json(v)::jsonb))
        from custom_fields f join custom_field_values v on v.field_id = f.field_id and v.entity_id = t.task_id
        where f.team_id = t.team_id and f.entity_type = 'task' and not f.is_archived) as fields, t.tags,
      ${isBlockedSql('$3::uuid', '$4::text[]')} as is_blocked, null::int as open_tasks
    from tasks t join projects p using (project_id) join teams e on e.team_id = t.team_id
    left join users u on u.user_id = t.assigned_to where t.task_id = any($1::text[])
    union all
    select p.project_id::text, null, null, null, p.end_date::text, null, null, null, null, null, null, '{}', false, (select count(*)::int from (
      select from tasks t where t.project_id = p.project_id and t.deleted_at is null and t.status <> 'done' limit ${MAX_COUNTED}) few)
    from projects p where p.project_id = any($2::uuid[])`,
});

/** What is known of a linked item beside its title and status. */
export interface LinkedFacts extends Record<string, unknown> {
  item_id: string;
  /** Of a task: what people call it, and the name of its project. */
  key: string | null;
  project_title: string | null;
  priority: string | null;
  due: string | null;
  assignee: string | null;
  assigned_to: string | null;
  resolution: string | null;
  stage: string | null;
  cycle: NonNullable<LinkedItem['cycle']> | null;
  fields: NonNullable<LinkedItem['fields']> | null;
  tags: string[];
  is_blocked: boolean;
  /** Of a project. */
  open_tasks: number | null;
}

/** Reads facts of the linked tasks, and of the first linked projects. The caller has checked that the user may read them. */
export async function readFacts(
  { db }: Pick<Context, 'db'>,
  links: readonly ReadableLink[],
  userId: string,
): Promise<Map<string, LinkedFacts>> {
  const ids = (type: string): string[] => links.flatMap(({ item_type, item_id }) => (item_type === type ? [item_id] : []));
  const values = [ids('task'), ids('project').slice(0, DESCRIBED), userId, rolesFor('task.list')];
  const rows = await run<LinkedFacts>(db, statement, values);
  return new Map(rows.map((row) => [row.item_id, row]));
}

/** A link as the grammar needs it. */
export const toLinkedItem = (
  { item_type: type, item_id: id, title, status, team_id, project_id }: ReadableLink,
  facts: LinkedFacts | undefined,
): LinkedItem => ({
  type,
  id,
  title,
  status,
  team_id,
  project_id,
  ...(facts && {
    key: facts.key,
    project_title: facts.project_title,
    priority: facts.priority,
    due: facts.due,
    assigned_to: facts.assigned_to,
    assignee: facts.assignee,
    resolution: facts.resolution,
    stage: facts.stage,
    cycle: facts.cycle,
    fields: facts.fields,
    tags: facts.tags,
    is_blocked: facts.is_blocked,
  }),
});
