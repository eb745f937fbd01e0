import { defineStatement, run, type Statement } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/**
 * $1 = ids, $2 = team id. Ids of items that exist; those of other teams have no type. `undo_id`: the undo of an import of the team that moved the item to
 * the trash.
 */
const itemsStatement = defineStatement({
  name: 'known_items_of_import',
  text: /* sql */ `
    select k.item_id as id, p.item_type as type, p.item_type is not null and p.deleted_at is null as is_live, p.project_id,
      (select j.undo_id from bulk_jobs j where p.deleted_at is not null and j.team_id = $2 and j.undo_id = case p.item_type
        when 'task' then (select t.cascade_id from tasks t where t.task_id = k.item_id)
        when 'project' then (select o.cascade_id from projects o where o.project_id = p.project_id)
        else (select i.cascade_id from items i where i.item_id = k.item_id) end) as undo_id
    from item_keys k left join lateral (
      select i.item_type, i.deleted_at, i.project_id from item_place i where i.item_id = k.item_id and i.team_id = $2 limit 1
    ) p on true where k.item_id = any($1::text[])`,
});

const OTHERS = {
  project_update: ['project_updates', 'update_id', 'true'],
  comment: ['comments', 'comment_id', 'true'],
  custom_field: ['custom_fields', 'field_id', 'true'],
  cycle: ['cycles', 'cycle_id', 'true'],
  relation: ['relations', 'relation_id', 'true'],
  automation: ['automations', 'automation_id', 'r.deleted_at is null'],
} as const;
export type OtherKind = keyof typeof OTHERS;

/** $1 = ids, $2 = team id. Ids of records that are no items. One that was purged keeps its id, so it counts as another team's. */
const otherStatement = (kind: OtherKind): Statement => {
  const [table, id, isLive] = OTHERS[kind];
  return defineStatement({
    name: `known_${table}_of_import`,
    text: /* sql */ `
      select r.${id}::text as id, case when r.team_id = $2 and ${isLive} then '${kind}' end as type, true as is_live
      from ${table} r where r.${id} = any($1::text[]::uuid[])`,
  });
};
const STATEMENTS = Object.fromEntries(Object.keys(OTHERS).map((kind) => [kind, otherStatement(kind as OtherKind)])) as Record<
  OtherKind,
  Statement
>;

/** A record that already has an id. */
export interface KnownRecord extends Record<string, unknown> {
  id: string;
  /** Null: of another team, about which nothing may be said, or purged. */
  type: string | null;
  is_live: boolean;
  /** Of an item. */
  project_id?: string | null;
  /** Of an item that the undo of an import of the team moved to the trash. */
  undo_id?: string | null;
}

const indexRecords = (rows: KnownRecord[]): Map<string, KnownRecord> => new Map(rows.map((row) => [row.id, row]));

/** Finds items by their ids. */
export async function knownItems({ db }: Context, teamId: string, ids: readonly string[]): Promise<Map<string, KnownRecord>> {
  return indexRecords(await run<KnownRecord>(db, itemsStatement, [ids, teamId]));
}

/** Finds records of one kind by their ids, which are UUIDs. */
export async function knownRecords(
  { db }: Context,
  kind: OtherKind,
  teamId: string,
  ids: readonly string[],
): Promise<Map<string, KnownRecord>> {
  return indexRecords(await run<KnownRecord>(db, STATEMENTS[kind], [ids, teamId]));
}
