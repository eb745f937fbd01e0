import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../context.js';
import { notFound } from '../errors.js';
import { recordChange } from '../changes/record-change.js';

export interface ParkedRow extends Record<string, unknown> {
  outbox_id: number;
  kind: string;
  subject: string;
  team_id: string | null;
  failures: number;
  created_at: Date;
  parked_at: Date;
  last_error: string | null;
}

const COLUMNS = 'outbox_id, kind, subject, team_id, failures, created_at, parked_at, last_error';

/** $1 = maximum number of rows. */
const listStatement = defineStatement({
  name: 'list_parked_rows',
  text: `select ${COLUMNS} from outbox where parked_at is not null order by parked_at limit $1`,
});
/** $1 = outbox id. */
const replayStatement = defineStatement({
  name: 'replay_parked_row',
  text: /* sql */ `
    update outbox set parked_at = null, failures = 0, attempts = 0, next_attempt_at = now()
    where outbox_id = $1 and parked_at is not null returning ${COLUMNS}`,
});

/** Lists parked rows for an operator, oldest first, at most `limit`. */
export const listParkedRows = ({ db }: Pick<Context, 'db'>, limit: number): Promise<ParkedRow[]> =>
  run<ParkedRow>(db, listStatement, [limit]);

/**
 * Makes a parked row due again, after an operator has removed the cause. Its cursor stays, so nothing is repeated.
 * @throws RESOURCE_NOT_FOUND no such parked row
 */
export function replayParkedRow(ctx: Context, outboxId: number): Promise<ParkedRow> {
  return inTransaction(ctx, async (ctx) => {
    const [row] = await run<ParkedRow>(ctx.db, replayStatement, [outboxId]);
    if (!row) throw notFound('Parked row');
    await recordChange(ctx, {
      team_id: row.team_id,
      feature: 'admin',
      action: 'retry',
      severity: 'MEDIUM',
      entity_type: 'outbox_row',
      entity_id: String(outboxId),
      details: { kind: row.kind, subject: row.subject, last_error: row.last_error },
    });
    return row;
  });
}
