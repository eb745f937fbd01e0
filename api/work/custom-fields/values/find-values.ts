import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { CustomFieldValue } from '../schema.js';

/** $1 = field ids, $2 = task ids, $3 = caller id, $4 = roles that may read. Each pair is one look-up by the primary key. */
const statement = defineStatement({
  name: 'custom_field_values_of_tasks',
  text: /* sql */ `
    select v.field_id, v.entity_id, custom_field_json(v) as value
    from custom_fields f join memberships m on m.team_id = f.team_id and m.user_id = $3 and m.role = any($4::text[])
    cross join unnest($2::text[]) as wanted(task_id)
    cross join lateral (
      select * from custom_field_values v where v.field_id = f.field_id and v.entity_id = wanted.task_id limit 1
    ) v
    where f.field_id = any($1::uuid[])`,
});

interface Found extends Pick<CustomFieldValue, 'field_id' | 'entity_id' | 'value'>, Record<string, unknown> {}

/** Returns the values that tasks have for some fields. Those of another team's fields are absent. */
export async function findValues(ctx: Context, fieldIds: readonly string[], taskIds: readonly string[]): Promise<Found[]> {
  if (fieldIds.length === 0 || taskIds.length === 0) return [];
  return run<Found>(ctx.db, statement, [fieldIds, taskIds, requireUser(ctx), rolesFor('custom_field.read')]);
}
