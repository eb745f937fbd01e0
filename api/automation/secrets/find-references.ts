import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import { secretHandles, typesNeeding } from '../actions/secret-handles.js';
import { findReferencesStatement } from './find-references.sql.js';

interface Reference {
  automation_id: string;
  name: string;
}
interface Definition extends Reference, Record<string, unknown> {
  actions: { type: string; params?: unknown }[] | null;
}

/**
 * Returns the automations of a team that would miss the secret: in their definition, or in the remaining actions of an open run.
 * Oldest first, each once.
 */
export async function findReferences(db: Knex, teamId: string, secret: string): Promise<Reference[]> {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const rows = await run<Definition>(db, findReferencesStatement, [teamId, [inJson, ...typesNeeding(secret)]]);
  const found = rows.filter(({ actions }) => secretHandles(actions ?? []).includes(secret));
  return [...new Map(found.map(({ automation_id, name }) => [automation_id, { automation_id, name }])).values()];
}
