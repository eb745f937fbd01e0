import type { Context } from '../../platform/context.js';
import { defineStatement, run } from '../../../db/statement.js';

/** Marks per statement. */
const BATCH = 10_000;

interface Batch extends Record<string, unknown> {
  last: string | null;
  marked: number;
}

/** $1 = item id to start after, $2 = maximum items. Marks items in order of their ids, with those whose document is left over. */
const statement = defineStatement({
  name: 'search_mark_all',
  text: /* sql */ `
    with listed as (
      select k.item_id from item_keys k where k.item_id > $1 order by k.item_id limit $2
    ), marked as (
      insert into search_dirty (team_id, item_id)
      select p.team_id, p.item_id from listed cross join lateral (select * from item_place p where p.item_id = listed.item_id limit 1) p
      returning 1
    )
    select max(item_id) as last, (select count(*)::int from marked) as marked from listed`,
});

const leftOverStatement = defineStatement({
  name: 'search_delete_left_over',
  text: 'delete from search_documents d where not exists (select from item_keys k where k.item_id = d.item_id)',
});

/**
 * Marks every item, so that the worker indexes all of them again, and deletes documents of items that no longer exist. Searches continue
 * meanwhile. Returns the number of marks.
 */
export async function rebuildIndex({ db }: Pick<Context, 'db'>): Promise<number> {
  await run(db, leftOverStatement, []);
  let total = 0;
  for (let after: string | null = ''; after !== null; ) {
    const rows: Batch[] = await run<Batch>(db, statement, [after, BATCH]);
    total += rows[0]?.marked ?? 0;
    after = rows[0]?.last ?? null;
  }
  return total;
}
