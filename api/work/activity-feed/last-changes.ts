import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';

/** Who changed an item last, when, and what: `changed status, tags`. */
export interface LastChange {
  user_id: string | null;
  user_name: string | null;
  timestamp: string;
  summary: string;
}

/** An item, and the time after which its changes count. */
export interface ChangedSince {
  entity_type: 'task' | 'project';
  entity_id: string;
  since: string;
}

/** Items that one call looks up. */
const MAX_ITEMS = 200;

/** $1 = caller id; $2 = types, $3 = ids and $4 = times of the items. One index scan an item: what was rejected changed nothing; teams without the caller show nothing. */
const statement = defineStatement({
  name: 'last_changes',
  text: /* sql */ `
    select l.entity_id, l.user_id, u.name as user_name, l.summary, uuid_extract_timestamp(l.activity_id) as timestamp
    from unnest($2::text[], $3::text[], $4::timestamptz[]) as wanted(entity_type, entity_id, since) cross join lateral (
      select a.* from activity a join memberships m on m.team_id = a.team_id and m.user_id = $1
      where a.entity_id = wanted.entity_id and a.entity_type = wanted.entity_type and a.action <> 'reject' and uuid_extract_timestamp(a.activity_id) > wanted.since
      order by a.activity_id desc limit 1
    ) l left join users u using (user_id)`,
});

/** Returns the newest change of each item, by the item's id, as far as the caller may read its activity. At most 200 items are looked up. */
export async function lastChanges(ctx: Context, items: readonly ChangedSince[]): Promise<Map<string, LastChange>> {
  const wanted = items.slice(0, MAX_ITEMS);
  if (wanted.length === 0) return new Map();
  const values = [requireUser(ctx), wanted.map((item) => item.entity_type), wanted.map((item) => item.entity_id)];
  type Row = Omit<LastChange, 'timestamp'> & { entity_id: string; timestamp: Date };
  const rows = await run<Row>(ctx.db, statement, [...values, wanted.map(({ since }) => since)]);
  return new Map(
    rows.map(({ entity_id, timestamp, ...change }) => [entity_id, { ...change, timestamp: timestamp.toISOString() }]),
  );
}
