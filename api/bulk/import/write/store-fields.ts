import { defineStatement, run } from '../../../../db/statement.js';
import { pickFreeFields } from '../../../work/items/free-fields.js';
import type { Batch, Row } from './batch.js';
import { toRefusal } from './savepoint.js';

/** $1 = task ids, $2 = free fields (JSON texts). */
const statement = defineStatement({
  name: 'store_fields_of_import',
  text: /* sql */ `
    insert into item_fields (item_id, fields) select given.item_id, given.fields::json
    from unnest($1::text[], $2::text[]) as given(item_id, fields)`,
});

/** Stores the free fields of tasks that were just created. Fields that cannot be stored are a note: the task is there. */
export async function storeFields({ ctx, result }: Batch, created: readonly { row: Row<'task'>; id: string }[]): Promise<void> {
  const ids: string[] = [];
  const texts: string[] = [];
  for (const { row, id } of created) {
    const { fields } = row.record;
    if (fields == null || Object.keys(fields).length === 0) continue;
    try {
      texts.push(JSON.stringify(pickFreeFields('task', { fields })));
      ids.push(id);
    } catch (error) {
      const refusal = toRefusal(error);
      if (!refusal) throw error;
      result.noted(row, `The free fields were left out: ${refusal.message}`);
    }
  }
  if (ids.length > 0) await run(ctx.db, statement, [ids, texts]);
}
