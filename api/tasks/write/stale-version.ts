import { run, type Statement } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { conflict, type DomainError } from '../../core/errors.js';

/** $1 = task id, $2 = the writer's version, $3 = current version. Returns the fields changed in between, and the last author. */
const statement: Statement = {
  name: 'changes_since_version',
  text: /* sql */ `
    with updates as (
      select a.user_id, a.timestamp, a.details::jsonb as details from audit_entries a
      where a.entity_type = 'task' and a.action = 'update' and a.entity_id = $1
      order by a.timestamp desc limit least($3::int - $2::int, 100)
    ), since as (
      select * from updates where (details->>'version')::int > $2::int
    ), newest as (
      select s.user_id, s.timestamp, u.display_name from since s left join users u using (user_id) order by s.timestamp desc limit 1
    )
    select array(select distinct key from since, jsonb_object_keys(details->'changes') as key order by key) as fields,
      (select user_id from newest) as by, (select display_name from newest) as name,
      (select left(timestamp, 23) || 'Z' from newest) as at`,
};

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
  const [since = none] = expected < version ? await run<Row>(ctx.db, statement, [taskId, expected, version]) : [];
  const { fields, by, at } = since;
  return conflict(`The task is at version ${version}, not ${expected}`, {
    detail: describe(expected, since),
    extra: { changed_since: { version, fields, by, at } },
  });
}
