import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { subjectsStatement } from './subjects.sql.js';

/** What an entry is about. */
interface EntrySubject {
  entity_type: string;
  entity_id: string | null;
  team_id: string | null;
}

/** The present name of a record, and the id of its page; a comment is named after its task. */
export interface Subject extends Record<string, unknown> {
  entity_type: string;
  entity_id: string;
  name: string;
  page_id: string;
  /** Whether the page can be opened: not of what is in the trash. */
  is_open: boolean;
}

/**
 * Names what a page of entries is about, by entity id. The caller may read the entries. What has been deleted, belongs to another team by now,
 * or has no name is absent.
 */
export async function nameSubjects(ctx: Context, entries: readonly EntrySubject[]): Promise<Map<string, Subject>> {
  const known = entries.filter(({ entity_id, team_id }) => entity_id !== null && team_id !== null);
  if (known.length === 0) return new Map();
  const values = [
    known.map(({ entity_type }) => entity_type),
    known.map(({ entity_id }) => entity_id),
    known.map(({ team_id }) => team_id),
  ];
  const rows = await run<Subject>(ctx.db, subjectsStatement, values);
  return new Map(rows.map((row) => [row.entity_id, row]));
}
