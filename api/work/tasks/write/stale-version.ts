import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { conflict, type DomainError } from '../../../platform/errors.js';
import { changesSinceStatement, itemChangesSinceStatement } from './stale-version.sql.js';

interface Row extends Record<string, unknown> {
  fields: string[];
  by: string | null;
  name: string | null;
  at: string | null;
}

function describe(type: string, expected: number, { fields, name, at }: Row): string {
  if (at === null) return `Read the ${type} again: version ${expected} is not the one that stands`;
  return `Since version ${expected} ${fields.join(', ')} changed, last by ${name ?? 'the service'} at ${at}`;
}

/** A record whose version the writer knew wrongly. */
export interface StaleRecord {
  type: 'task' | 'project' | 'note' | 'file' | 'whiteboard' | 'doc';
  id: string;
  /** The writer's version. */
  expected: number;
  /** The current version. */
  version: number;
}

/**
 * Returns the error for an outdated version, with the fields changed since, so that clients can decide whether that matters.
 * Reads the audit entries, only on this path (docs/decisions/work.md#stale-versions).
 */
export async function staleVersion(ctx: Context, { type, id, expected, version }: StaleRecord): Promise<DomainError> {
  const none: Row = { fields: [], by: null, name: null, at: null };
  const statement = type === 'task' ? changesSinceStatement : itemChangesSinceStatement;
  const [since = none] = expected < version ? await run<Row>(ctx.db, statement, [id, expected, version]) : [];
  const { fields, by, at } = since;
  return conflict(`The ${type} is at version ${version}, not ${expected}`, {
    detail: describe(type, expected, since),
    extra: { changed_since: { version, fields, by, at } },
  });
}
