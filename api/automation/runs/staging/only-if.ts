import { conditionScope } from '../../language/condition-scope.js';
import { listAnswerReads, stepNameIn } from '../../language/answer-paths.js';
import { evaluateOnlyIf } from '../../language/only-if.js';
import { defineStatement, run as sql } from '../../../../db/statement.js';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import type { FilledRun } from '../execution/read-params.js';
import type { withStep } from '../execution/with-step.js';
import { findUnreadable, withAnswers } from '../execution/answers.js';
import type { RunRow } from '../execution/load-run.js';
import { readTail } from './tail.js';

/** What decides whether an action is skipped. */
export type JudgedRun = FilledRun & Pick<RunRow, 'is_test'>;

/**
 * Returns why an action of a run is skipped, in one line; null if it is performed. Reads the event that the run stores, and takes the time at which
 * the run began as now: so every evaluation comes to the same. A dry run, which sends no request, skips what reads an answer.
 * @throws ActionRefused `template_missing`: it reads an answer that is not whole | `condition_failed`: a condition that cannot be evaluated fails its action
 */
export function readOnlyIf(run: JudgedRun, index: number): string | null {
  if (run.is_test) {
    const [read] = listAnswerReads(run.actions[index] ?? {});
    if (read) return `it reads the answer of step ${stepNameIn(read.path)}, and a dry run sends no request`;
  }
  const unreadable = findUnreadable(run, index);
  if (unreadable !== null) throw new ActionRefused({ code: 'template_missing', message: unreadable });
  const source = run.actions[index]?.['if'];
  if (typeof source !== 'string') return null;
  if (run.event_truncated) {
    throw conditionFailed('the event was too large to be kept whole, and was cut');
  }
  const scope = conditionScope(run.event, { project: null, actor: null, now: new Date(run.queued_at), steps: run.answers });
  const verdict = evaluateOnlyIf(source, scope);
  if (verdict.state === 'fails') throw conditionFailed(verdict.error);
  return verdict.state === 'false' ? verdict.why : null;
}

const conditionFailed = (why: string): ActionRefused =>
  new ActionRefused({ code: 'condition_failed', message: `The condition of the action could not be evaluated: ${why}` });

/** Behind a gate the approved text says whether an action is skipped, and nothing is evaluated again. @throws ActionRefused */
function whySkipped(run: RunRow, index: number): string | null {
  const { staged, staged_hash } = run;
  if (staged == null || staged_hash == null) return readOnlyIf(run, index);
  return readTail({ staged, staged_hash }).actions.find((step) => step.index === index)?.skipped ?? null;
}

/** $1 = run id, $2 = index, $3 = output (jsonb). */
const skipStatement = defineStatement({
  name: 'skip_action',
  text: `update run_actions set status = 'skipped', output = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
});

type Work = Parameters<typeof withStep>[3];

/** Does the work of a step only if its condition holds (docs/decisions/automation.md#conditions-of-actions). */
export const ifItHolds =
  (work: Work): Work =>
  async (db, given, step) => {
    const begun = await withAnswers(db, given);
    const skipped = whySkipped(begun, step.index);
    if (skipped === null) return work(db, begun, step);
    await sql(db, skipStatement, [begun.run_id, step.index, JSON.stringify({ skipped })]);
    return { status: 'skipped', error: null };
  };
