import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { countTrashStatement, listTrashStatement } from './list-trash.sql.js';
import type { ListTrash, TrashEntry } from './schema.js';

interface TrashRow extends Record<string, unknown> {
  entity_type: TrashEntry['entity_type'];
  entity_id: string;
  title: string;
  team_id: string;
  project_id: string | null;
  deleted_at: Date;
  deleted_by: string | null;
  cascade_id: string;
  cascade_count: number;
}

const resolveFilters = (ctx: Context, { team_id, project_id, entity_type }: Partial<ListTrash>) => [
  requireUser(ctx),
  team_id ?? null,
  project_id ?? null,
  entity_type ?? null,
];

const DAY_MS = 24 * 60 * 60 * 1000;

/** Lists the trash of the caller's teams, newest first; empty for other teams and projects. */
export async function listTrash(ctx: Context, filters: ListTrash): Promise<TrashEntry[]> {
  const rows = await run<TrashRow>(ctx.db, listTrashStatement, [...resolveFilters(ctx, filters), filters.limit, filters.offset]);
  const retention_days = ctx.config.TRASH_RETENTION_DAYS;
  return rows.map((row) => ({
    ...row,
    deleted_at: row.deleted_at.toISOString(),
    expires_at: new Date(row.deleted_at.getTime() + retention_days * DAY_MS).toISOString(),
    retention_days,
    restore_url: `/api/trash/${row.entity_type}/${encodeURIComponent(row.entity_id)}/restore`,
  }));
}

/** Counts the entries of `listTrash`. */
export async function countTrash(ctx: Context, filters: ListTrash): Promise<number> {
  const [row] = await run<{ total: number }>(ctx.db, countTrashStatement, resolveFilters(ctx, filters));
  return row?.total ?? 0;
}
