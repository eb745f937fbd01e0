import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { fieldTitle } from './field-title.js';
import type { CustomFieldRecord } from './schema.js';

/** What rows, forms and choosers know of a field of tasks. */
export type TaskField = Pick<CustomFieldRecord, 'field_id' | 'team_id' | 'name' | 'key' | 'field_type' | 'options' | 'required'>;

/** Fields that one page reads: all of twenty teams, or a few of more. */
const MAX_READ = 2_000;

/** $1 = team ids, $2 = caller id, $3 = roles that may list, $4 = most fields of a team, $5 = their keys, or null. */
const statement = defineStatement({
  name: 'task_fields_of_teams',
  text: /* sql */ `
    select f.* from unnest($1::uuid[]) as wanted(team_id)
    join memberships m on m.team_id = wanted.team_id and m.user_id = $2 and m.role = any($3::text[])
    cross join lateral (
      select c.field_id, c.team_id, c.name, c.key, c.field_type, c.options, c.required from custom_fields c
      where c.team_id = m.team_id and c.entity_type = 'task' and not c.is_archived and c.key = any(coalesce($5::text[], array[c.key]))
      order by c.position, c.created_at, c.field_id limit $4
    ) f`,
});

/** Lists the open fields of the tasks of some teams, each team's in their order and at most `limit`; with `keys` only those. Another team's are not listed. */
export async function findTaskFields(
  ctx: Context,
  teamIds: Iterable<string>,
  limit = 100,
  keys: readonly string[] | null = null,
): Promise<TaskField[]> {
  const teams = [...new Set(teamIds)].slice(0, MAX_READ / limit);
  if (teams.length === 0) return [];
  const values = [teams, requireUser(ctx), rolesFor('custom_field.list'), limit, keys];
  const found = await run<TaskField & Record<string, unknown>>(ctx.db, statement, values);
  return found.map((field) => ({ ...field, name: fieldTitle(field.name) }));
}
