import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { countMessageStatement, readQuotaStatement, returnMessageStatement } from './submit-message.sql.js';

interface Quota extends Record<string, unknown> {
  quota: number | null;
  resets_on: string;
}

/**
 * Counts a message of a team in this month, before the message is stored (docs/decisions/agent.md#quota-of-messages).
 * @throws QUOTA_EXCEEDED naming the limit and the day on which it starts again
 */
export async function countMessage({ db }: Pick<Context, 'db'>, teamId: string): Promise<void> {
  if ((await run(db, countMessageStatement, [teamId])).length > 0) return;
  const [found] = await run<Quota>(db, readQuotaStatement, [teamId]);
  const { quota = 0, resets_on = 'the first of next month' } = found ?? {};
  throw new DomainError(
    'QUOTA_EXCEEDED',
    `The team has used its ${quota} messages of this month; the next ones start on ${resets_on}`,
    {
      detail: 'An admin of the team can raise the quota in the settings of the agent.',
    },
  );
}

/** Gives a counted message back that was not stored. */
export async function returnMessage({ db }: Pick<Context, 'db'>, teamId: string): Promise<void> {
  await run(db, returnMessageStatement, [teamId]);
}
