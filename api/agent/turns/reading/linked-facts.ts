import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import { linkedFactsStatement } from './linked-facts.sql.js';
import type { ReadableLink } from '../../sessions/read-links.js';

/** Items that a summary describes; the others are counted. */
export const DESCRIBED = 10;
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
  const rows = await run<LinkedFacts>(db, linkedFactsStatement, values);
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
