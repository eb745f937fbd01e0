import { setImmediate } from 'node:timers/promises';
import type { Knex } from 'knex';
import { defineStatement, run as sql } from '../../../../../db/statement.js';
import { RunAction } from '../../../../../db/models/automation/run-action.js';
import { ActionRefused } from '../../../../gate/contract/action-refused.js';
import { GATE } from '../../../actions/rules.js';
import { listAnswerReads } from '../../../language/answer-paths.js';
import type { RunRow } from '../../execution/load-run.js';
import { readOnlyIf } from '../../staging/only-if.js';
import { listTail, type StagedStep } from '../../staging/tail.js';

/** $1 = run id, $2 = indexes, $3 = why each is skipped. */
const skipStepsStatement = defineStatement({
  name: 'skip_steps',
  text: /* sql */ `
    update run_actions a set status = 'skipped', output = jsonb_build_object('skipped', s.why), finished_at = now()
    from unnest($2::int[], $3::text[]) as s(index, why) where a.run_id = $1 and a.index = s.index and a.status in ('pending', 'staged')`,
});

/** Returns why each of the actions is skipped; null if one of them is performed, or fails. */
async function whyAllSkipped(run: RunRow, indexes: readonly number[]): Promise<string[] | null> {
  const reasons: string[] = [];
  for (const index of indexes) {
    // A dry run has no answer to decide by: the gate would perhaps ask.
    if (run.is_test && listAnswerReads(run.actions[index] ?? {}).length > 0) return null;
    try {
      const why = readOnlyIf(run, index);
      if (why === null) return null;
      reasons.push(why);
    } catch (thrown) {
      if (thrown instanceof ActionRefused) return null;
      throw thrown;
    }
    // A condition may take its whole budget: others have their turn before the next one.
    await setImmediate();
  }
  return reasons;
}

const NOTHING_LEFT = 'nothing to approve: every step behind it is skipped';

/**
 * Skips a gate together with all that it would release, if the condition of each of these actions is false: a yes would change nothing. The actions
 * are closed in the same transaction, so none of them can run later without a yes. A gate without actions behind it asks. Returns whether the gate
 * is skipped, also by an earlier call, was opened by one, or is to ask. The caller has locked the run.
 */
export async function skipGate(db: Knex, run: RunRow, gateIndex: number): Promise<'skipped' | 'opened' | 'asks'> {
  const { run_id } = run;
  const gate = await RunAction.query(db).findById([run_id, gateIndex]).select('status');
  if (gate?.status === 'skipped') return 'skipped';
  if (gate?.status !== 'pending' && gate?.status !== 'staged') return 'opened';
  const behind = listTail(run.actions, gateIndex, []);
  if (behind.length === 0) return 'asks';
  const reasons = await whyAllSkipped(run, behind);
  if (reasons === null) return 'asks';
  await sql(db, skipStepsStatement, [run_id, [gateIndex, ...behind], [NOTHING_LEFT, ...reasons]]);
  return 'skipped';
}

/**
 * The same of actions that were tried: each is skipped by its condition, or because it would change nothing. A gate before another one asks, because
 * its yes leads to what the other one guards. Returns true if the gate is skipped.
 */
export async function skipStaged(
  db: Knex,
  { run_id, actions }: RunRow,
  gateIndex: number,
  steps: readonly StagedStep[],
): Promise<boolean> {
  const reasons = steps.flatMap(({ skipped }) => skipped ?? []);
  if (steps.length === 0 || reasons.length < steps.length || actions.slice(gateIndex + 1).some(({ type }) => type === GATE))
    return false;
  const indexes = [gateIndex, ...steps.map(({ index }) => index)];
  await sql(db, skipStepsStatement, [run_id, indexes, [NOTHING_LEFT, ...reasons]]);
  return true;
}
