import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, callerJson, inTransaction } from '../../../platform/context.js';
import {
  assignExpectedStatement,
  dropExpectedStatement,
  expectStatement,
  joinedStatement,
  lockExpectedStatement,
  lockExpectingStatement,
} from './expect-assignee.sql.js';

/** A task without an assignee, and the address of the person who gets it when they join. */
interface Expected {
  task_id: string;
  email: string;
}

/** $1 = team id. */
const forgetStatement = defineStatement({
  name: 'forget_expected_assignees',
  text: 'delete from expected_assignees where team_id = $1',
});

/** $1 = value. Says to the following statements of the transaction whether an import writes: it starts no automation, and leaves no notices. */
const quietStatement = defineStatement({
  name: 'set_quiet',
  text: "select set_config('assent.import', $1, true)",
});

/** Keeps who gets tasks when they join the team; only for live tasks of the team without an assignee. */
export async function expectAssignees({ db }: Pick<Context, 'db'>, teamId: string, expected: readonly Expected[]): Promise<void> {
  if (expected.length === 0) return;
  await run(db, expectStatement, [teamId, expected.map(({ task_id }) => task_id), expected.map(({ email }) => email)]);
}

/**
 * Gives a new member the tasks that imports have kept for their address, unless their assignee was changed since. Call it in the transaction that
 * adds the membership, after its own entry. Like the import itself it starts no automation.
 */
export async function assignExpected(ctx: Context, teamId: string, userId: string): Promise<void> {
  const locked = await run<{ task_id: string }>(ctx.db, lockExpectedStatement, [teamId, userId]);
  if (locked.length > 0) {
    const ids = locked.map(({ task_id }) => task_id);
    await run(ctx.db, quietStatement, ['quiet']);
    await run(ctx.db, assignExpectedStatement, [JSON.stringify(callerJson(ctx)), teamId, userId, ids]);
    await run(ctx.db, quietStatement, ['']);
  }
  await run(ctx.db, dropExpectedStatement, [teamId, userId]);
}

/**
 * Gives tasks to those who joined while the import wrote them. Call it after the transaction that wrote. Under the lock of the team a membership that
 * is not seen yet waits, and then finds what is kept.
 */
export async function assignJoined(ctx: Context, teamId: string): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await run(ctx.db, lockExpectingStatement, [teamId]);
    for (const { user_id } of await run<{ user_id: string }>(ctx.db, joinedStatement, [teamId])) {
      await assignExpected(ctx, teamId, user_id);
    }
  });
}

/** Forgets them with the team. Returns their number. */
export async function forgetExpected({ db }: Context, teamId: string): Promise<void> {
  await run(db, forgetStatement, [teamId]);
}
