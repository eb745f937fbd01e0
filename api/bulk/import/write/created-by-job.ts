import { defineStatement, run } from '../../../../db/statement.js';
import type { Batch } from './batch.js';

/** $1 = job id, $2 = kind, $3 = ids. */
const createdStatement = defineStatement({
  name: 'created_by_import',
  text: /* sql */ `
    select r.item_id from bulk_rows r
    where r.job_id = $1 and r.entity = $2 and r.item_id = any($3::text[]) and r.outcome = 'created'`,
});

/** Returns those of the records that this job has created. */
export async function createdByJob({ ctx, job_id }: Batch, kind: string, ids: string[]): Promise<Set<string>> {
  const rows = await run<{ item_id: string }>(ctx.db, createdStatement, [job_id, kind, ids]);
  return new Set(rows.map(({ item_id }) => item_id));
}
