import { z } from 'zod';
import { defineStatement, run } from '../../../db/statement.js';
import { rolesFrom, type Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';

export const ApproversMissing = z.int().meta({
  description:
    'People of the team who would have to get the role so that enough can approve it now; above 0 it can only be rejected or run out',
});

/** What a decision that waits asks of people. */
export interface Asked {
  /** Null for one of a single person, who decides it. */
  team_id: string | null;
  role: Seat;
  approvals: number;
  /** Users whose yes does not count. */
  excluded: readonly string[];
}

/** $1 = what is asked, as an array (jsonb) of `team_id`, `roles`, `approvals` and `excluded`. Counts who may say yes, as far as it matters. */
const ableStatement = defineStatement({
  name: 'able_approvers',
  text: /* sql */ `
    select (select count(*)::int from (
      select from memberships m join users u using (user_id)
      where m.team_id = a.team_id and m.role = any(a.roles) and u.status = 'active' and m.user_id <> all(a.excluded) limit a.approvals
    ) found) as able
    from rows from (jsonb_to_recordset($1::jsonb) as (team_id uuid, roles text[], approvals int, excluded uuid[])) with ordinality
      as a(team_id, roles, approvals, excluded, place)
    order by a.place`,
});

/**
 * Returns for each decision how many people more would have to have the role so that enough can say yes; 0 where they can. Who has approved already is
 * among those who can. The caller may read the decisions, and so the members of their teams.
 */
export async function countMissing({ db }: Pick<Context, 'db'>, asked: readonly Asked[]): Promise<number[]> {
  const inTeams = asked.filter(({ team_id }) => team_id !== null);
  if (inTeams.length === 0) return asked.map(() => 0);
  // Decisions of one automation ask the same people.
  const keys = asked.map(({ role, ...one }) => JSON.stringify({ ...one, roles: rolesFrom(role) }));
  const distinct = [...new Set(keys)];
  const rows = await run<{ able: number }>(db, ableStatement, [`[${distinct.join(',')}]`]);
  const able = new Map(distinct.map((key, at) => [key, rows[at]?.able ?? 0]));
  return asked.map(({ team_id, approvals }, at) =>
    team_id === null ? 0 : Math.max(0, approvals - (able.get(keys[at] as string) ?? 0)),
  );
}
