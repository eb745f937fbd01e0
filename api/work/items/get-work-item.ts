import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { getWorkItemStatement } from './get-work-item.sql.js';

interface Row extends Record<string, unknown> {
  json: string | null;
  version: number;
  seat: Seat | null;
  item_type: string | null;
  content: string | null;
  kind: string | null;
}

/** A work item as JSON text, with its version. */
export interface WorkItemAnswer {
  json: string;
  version: number;
}

/** Adds the texts that lists omit: the content of a note or a doc, the kind of a note. */
function withTexts(json: string, { item_type, content, kind }: Row): string {
  if (item_type !== 'note' && item_type !== 'doc') return json;
  const texts = item_type === 'note' ? { content, kind } : { content };
  return `${json.slice(0, -1)},${JSON.stringify(texts).slice(1)}`;
}

/**
 * Returns one live item of any type.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function getWorkItem(
  ctx: Context,
  itemId: string,
  ability: 'item.read' | 'item.write' = 'item.read',
): Promise<WorkItemAnswer> {
  const [row] = await run<Row>(ctx.db, getWorkItemStatement, [itemId, requireUser(ctx)]);
  if (!row || row.json === null) throw notFound('Work item');
  authorize(ability, row.seat);
  return { json: withTexts(row.json, row), version: row.version };
}
