import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { findCauses } from './find-causes.js';
import type { ActivityCause } from './schema.js';

/** Comments that one call looks up. */
const MAX_COMMENTS = 200;

/** $1 = caller id, $2 = ids of comments. Those that no person wrote; one index scan a comment. Teams without the caller show nothing. */
const statement = defineStatement({
  name: 'lines_of_machine_comments',
  text: /* sql */ `
    select l.activity_id, l.audit_id, l.entity_id from unnest($2::text[]) as wanted(comment_id) cross join lateral (
      select a.* from activity a join memberships m on m.team_id = a.team_id and m.user_id = $1
      where a.entity_id = wanted.comment_id and a.entity_type = 'comment' and a.action = 'create' limit 1
    ) l where l.actor_type in ('automation', 'agent') and l.audit_id is not null`,
});

/** Returns what wrote comments in the name of their authors, by comment id; absent for a person's own. */
export async function findCommentCauses(ctx: Context, ids: readonly string[]): Promise<Map<string, ActivityCause>> {
  if (ids.length === 0) return new Map();
  type Row = { activity_id: string; audit_id: string; entity_id: string };
  const lines = await run<Row & Record<string, unknown>>(ctx.db, statement, [requireUser(ctx), ids.slice(0, MAX_COMMENTS)]);
  const causes = await findCauses(ctx, lines);
  return new Map(
    lines.flatMap(({ audit_id, entity_id }) => {
      const cause = causes.get(audit_id)?.cause;
      return cause ? [[entity_id, cause] as const] : [];
    }),
  );
}
