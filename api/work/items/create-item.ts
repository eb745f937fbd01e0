import type { Item } from '../../../db/models/item.js';
import { run } from '../../../db/statement.js';
import { authorize, rolesFor, type Seat } from '../../platform/access/access.js';
import { callerJson, type Context, requireUser, withRetries } from '../../platform/context.js';
import { forbidden, invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { createItemStatement } from './create-item.sql.js';
import { defaultTeamStatement } from './resolve-team.sql.js';
import { getFeature, type ItemFields, type StoredType } from './rules.js';

/** A new note, file, whiteboard or doc. Without team and project it goes to the caller's default team. */
export interface NewItem extends Omit<ItemFields, 'project_id'> {
  item_type: StoredType;
  team_id?: string | null | undefined;
  project_id?: string | null | undefined;
  /** Chosen by imports only. */
  item_id?: string;
  /** For the audit entry, beside the title. */
  details?: Record<string, unknown>;
}

/** A live item without the columns that only the trash uses. */
export type LiveItem = ItemFields &
  Pick<Item, 'item_id' | 'item_type' | 'team_id' | 'created_by' | 'created_at' | 'updated_at' | 'version'>;

interface Outcome extends Record<string, unknown> {
  team_id: string | null;
  project_id: string | null;
  seat: Seat | null;
  team_ok: boolean | null;
  created_at: Date;
  updated_at: Date;
  version: number | null;
  /** Whether an outbox row was written. */
  notify: boolean | null;
}

/** @throws PERMISSION_DENIED the caller may write in no team */
async function findDefaultTeam(ctx: Context): Promise<string> {
  const [team] = await run<{ team_id: string }>(ctx.db, defaultTeamStatement, [requireUser(ctx), rolesFor('item.write')]);
  if (!team) throw forbidden('You have no team in which you may create this');
  return team.team_id;
}

/**
 * Creates an item in one statement.
 * @throws RESOURCE_NOT_FOUND no such project or team | PERMISSION_DENIED non-member or guest, or no team to write in | INVALID_REQUEST
 * the project belongs to another team
 */
export async function createItem(ctx: Context, item: NewItem): Promise<LiveItem> {
  const { item_type, title, description, content, kind, status, fields, project_id = null, details = {} } = item;
  const { item_id = newId() } = item;
  const team_id = item.team_id ?? (project_id === null ? await findDefaultTeam(ctx) : null);
  const place = [item_id, item_type, team_id, project_id, rolesFor('item.write'), getFeature(item_type)];
  const texts = [title, description, content, kind, status, JSON.stringify(fields), JSON.stringify(details)];
  const values = [JSON.stringify(callerJson(ctx)), ...place, ...texts];
  const [made] = await withRetries(ctx, () => run<Outcome>(ctx.db, createItemStatement, values));
  if (!made || made.team_id === null) throw notFound(project_id === null ? 'Team' : 'Project');
  authorize('item.write', made.seat);
  if (!made.team_ok) throw invalid('project_id belongs to another team');
  if (made.version === null) throw new Error(`Item ${item_id} was not created`);
  if (made.notify) ctx.notifyRelay();
  return {
    item_id,
    item_type,
    team_id: made.team_id,
    project_id: made.project_id,
    title,
    description,
    content,
    kind,
    status,
    fields,
    created_by: requireUser(ctx),
    created_at: made.created_at,
    updated_at: made.updated_at,
    version: made.version,
  };
}
