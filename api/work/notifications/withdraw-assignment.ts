import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { holdNoticesStatement, withdrawAssignmentStatement } from './withdraw-assignment.sql.js';

/**
 * Withdraws what a user has not read about a task that was given to them by mistake, in the transaction that undoes it. An email that was sent
 * stays. `user`: `assignee` for who has it now; null if nobody was given it, for whom it was before is told no news either.
 */
export async function withdrawAssignment({ db }: Pick<Context, 'db'>, taskId: string, user: string | null): Promise<void> {
  await run(db, holdNoticesStatement, []);
  await run(db, withdrawAssignmentStatement, [user === 'assignee' ? null : user, taskId, user === 'assignee']);
}
