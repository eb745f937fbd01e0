import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { dispatchNextStatement, lockSlotStatement } from './slot.sql.js';

/** Locks the slot of a team until the commit: one job of a team runs at a time. */
export async function lockSlot({ db }: Pick<Context, 'db'>, teamId: string): Promise<void> {
  await run(db, lockSlotStatement, [teamId]);
}

/** Starts the job, or the undo, that has waited longest, if the team's slot is free. The caller has locked the slot. */
export async function dispatchNext({ db }: Pick<Context, 'db'>, teamId: string): Promise<void> {
  await run(db, dispatchNextStatement, [teamId]);
}
