import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { announceDueStatement, BATCH } from './announce-due.sql.js';

const KINDS = ['due_soon', 'overdue'] as const;
const EVENTS: ReadonlySet<string> = new Set(KINDS.map((kind) => `task.${kind}`));

/** Whether only the clock causes events of this type. */
export const isDueEvent = (type: string): boolean => EVENTS.has(type);

/**
 * Announces open tasks that are due within a day and overdue ones, each due date once. Returns the number of events; a changed
 * due date is announced again.
 */
export async function announceDue({ db, notifyRelay }: Services): Promise<number> {
  let total = 0;
  for (const kind of KINDS) {
    for (let count = BATCH; count === BATCH; total += count) {
      const [row] = await run<{ count: number }>(db, announceDueStatement, [kind]);
      count = row?.count ?? 0;
    }
  }
  if (total > 0) notifyRelay();
  return total;
}
