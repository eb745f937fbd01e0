import { run } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { dispatchNextStatement, lockPlaceStatement } from './place.sql.js';

/** Locks the place of a team until the commit: one job of a team runs at a time. */
export async function lockPlace({ db }: Pick<Context, 'db'>, teamId: string): Promise<void> {
  await run(db, lockPlaceStatement, [teamId]);
}

/** Starts the job, or the undo, that has waited longest, if the team's place is free. The caller has locked the place. */
export async function dispatchNext({ db }: Pick<Context, 'db'>, teamId: string): Promise<void> {
  await run(db, dispatchNextStatement, [teamId]);
}
