import { defineStatement } from '../../db/statement.js';
import type { RestorableRows } from './reconcile-rows.js';

/** A table whose rows have workflows. The key of a row is the subject of its outbox rows, and their payload. */
export interface RestorableTable<Open> {
  name: string;
  /** Its statements are called `open_…` and `restart_…` after this. */
  rows: string;
  key: keyof Open & string;
  /** Condition of a row `r` that needs a workflow. */
  where: string;
  /** Further columns of an open row. */
  columns?: readonly string[];
  /** Columns that an outbox row copies. Without `correlation_id` it gets a new one. */
  copies: readonly ('team_id' | 'project_id' | 'correlation_id')[];
}

/** Builds the statements with which the reconciler reads open rows and restarts those without a workflow. */
export function buildRestore<Open>(
  { name, rows, key, where, columns = [], copies }: RestorableTable<Open>,
  kind: string,
): Pick<RestorableRows<never, Open>, 'key' | 'open' | 'restart'> {
  const copied = copies.map((column) => ({ column, value: `r.${column}` }));
  const values = copies.includes('correlation_id') ? copied : [...copied, { column: 'correlation_id', value: 'uuidv7()' }];
  return {
    key,
    open: defineStatement({
      name: `open_${rows}`,
      text: /* sql */ `
        select ${[`r.${key}`, ...columns].join(', ')} from ${name} r
        where (${where}) and r.${key} > $1
          and not exists (select from outbox o where o.kind = '${kind}' and o.subject = r.${key}::text)
        order by r.${key} limit $2`,
    }),
    restart: defineStatement({
      name: `restart_${rows}`,
      text: /* sql */ `
        insert into outbox (kind, subject, payload, ${values.map(({ column }) => column).join(', ')})
        select '${kind}', r.${key}::text, jsonb_build_object('${key}', r.${key}), ${values.map(({ value }) => value).join(', ')}
        from ${name} r where r.${key} = any($1::uuid[]) and (${where}) returning outbox_id`,
    }),
  };
}
