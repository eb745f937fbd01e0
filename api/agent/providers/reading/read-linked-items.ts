import { run } from '../../../../db/statement.js';
import { checkCallerKind, rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { ItemType } from '../../../work/graph/item-place.js';
import { linkedItemsStatement, membersStatement, relationsAmongStatement } from './linked-items.sql.js';

/** A link whose item the user can no longer read: in the trash, or of a team that they have left. */
interface LostLink {
  item_id: string;
  is_lost: true;
}

/** A linked item that the user may read. Texts are what people wrote: nothing of them is trusted. */
export interface ReadItem {
  item_id: string;
  is_lost: false;
  item_type: ItemType;
  title: string;
  status: string;
  team_id: string;
  project_id: string | null;
  project_name: string | null;
  updated_at: Date;
  /** Description, or content of a note; null if it has none or was not asked for. */
  body: string | null;
  priority: string | null;
  due_date: string | null;
  assigned_to: string | null;
  is_archived: boolean | null;
  parent_task_id: string | null;
  tags: string[] | null;
  start_date: string | null;
  end_date: string | null;
  /** Number of a project's tasks by status. */
  by_status: Record<string, number> | null;
  /** The newest comments, oldest first. */
  comments: { author_id: string; at: string; text: string }[];
  /** An admin of its team allows a model outside this installation. */
  is_external_allowed: boolean;
}

interface ReadRelation extends Record<string, unknown> {
  relation_id: string;
  source_id: string;
  target_id: string;
  relation_type: string;
}

interface ReadMember extends Record<string, unknown> {
  user_id: string;
  name: string;
  team_ids: string[];
}

/** How much of each item is read. */
export interface ReadLimits {
  textLength: number;
  comments: number;
  commentLength: number;
  /** Ids of the items whose texts are read; all if absent. */
  only?: string[];
}

const MAX_RELATIONS = 100;
const MAX_MEMBERS = 100;

/** What a session shows to a model, as its owner may read it at this moment. */
export interface LinkedWorld {
  items: ReadItem[];
  /** Number of links whose items are gone, or beyond the limit. */
  lost: number;
  relations: ReadRelation[];
  members: ReadMember[];
}

/**
 * Reads the linked items of a session with their relations and the members of their teams. Roles are checked in the statement.
 * @throws PERMISSION_DENIED if the caller may not read items
 */
export async function readLinkedWorld(
  ctx: Pick<Context, 'db' | 'actor'>,
  sessionId: string,
  limits: ReadLimits,
): Promise<LinkedWorld> {
  checkCallerKind('item.read', ctx.actor);
  const { textLength, comments, commentLength, only = null } = limits;
  const values = [sessionId, requireUser(ctx), rolesFor('agent.link'), textLength, comments, commentLength, only];
  const rows = await run<(ReadItem | LostLink) & Record<string, unknown>>(ctx.db, linkedItemsStatement, values);
  // An idea may be linked as a note too.
  const items = [...new Map(rows.flatMap((row) => (row.is_lost ? [] : [[row.item_id, row as ReadItem]]))).values()];
  const ids = items.map(({ item_id }) => item_id);
  const teams = [...new Set(items.map(({ team_id }) => team_id))];
  const [relations, members] = await Promise.all([
    run<ReadRelation>(ctx.db, relationsAmongStatement, [ids, MAX_RELATIONS]),
    run<ReadMember>(ctx.db, membersStatement, [teams, MAX_MEMBERS]),
  ]);
  return { items, lost: rows.filter(({ is_lost }) => is_lost).length, relations, members };
}
