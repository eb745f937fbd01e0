import { run } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { conflict, type DomainError } from '../../core/errors.js';
import { changesSinceStatement } from './stale-version.sql.js';

interface Row extends Record<string, unknown> {
  fields: string[];
  by: string | null;
  name: string | null;
  at: string | null;
}

function describe(expected: number, { fields, name, at }: Row): string {
  if (at === null) return `Read the task again: version ${expected} is not the one that stands`;
  return `Since version ${expected} ${fields.join(', ')} changed, last by ${name ?? 'the service'} at ${at}`;
}

/**
 * Returns the error for an outdated version, with the fields changed since, so that clients can decide whether that matters.
 * Reads the audit entries, only on this path (docs/decisions.md#stale-versions).
 */
export async function staleVersion(ctx: Context, taskId: string, expected: number, version: number): Promise<DomainError> {
  const none: Row = { fields: [], by: null, name: null, at: null };
  const [since = none] = expected < version ? await run<Row>(ctx.db, changesSinceStatement, [taskId, expected, version]) : [];
  const { fields, by, at } = since;
  return conflict(`The task is at version ${version}, not ${expected}`, {
    detail: describe(expected, since),
    extra: { changed_since: { version, fields, by, at } },
  });
}
