import { defineStatement, run } from '../../../../db/statement.js';
import { availableActions } from '../../actions/registry.js';
import type { Context } from '../../../platform/context.js';
import type { ActionLine } from '../../../gate/staging/schema.js';
import { withAnswers } from '../execution/answers.js';
import type { RunRow } from '../execution/load-run.js';
import { storedParams } from '../execution/read-params.js';
import { namesAt } from '../names-at.js';
import { presentSteps, collectWanted } from './describe-gates.js';
import { fillIn } from './stage-tail.js';
import { readTail, type StagedStep, type StoredTail } from './tail.js';

type ShownRun = Pick<
  RunRow,
  'run_id' | 'team_id' | 'creator_id' | 'project_id' | 'event' | 'event_truncated' | 'queued_at' | 'schedule_timezone' | 'actions'
> & {
  /** Indexes of the actions that were performed. */
  done: ReadonlySet<number>;
};

/** $1 = run id. */
const tailsStatement = defineStatement({
  name: 'tails_of_run',
  text: `select staged, staged_hash from gates where run_id = $1 and staged is not null`,
});

/** Returns the steps that the gates of a run released or would release. A damaged text shows nothing. */
async function readTails(ctx: Pick<Context, 'db'>, runId: string): Promise<Map<number, StagedStep>> {
  const rows = await run<StoredTail & Record<string, unknown>>(ctx.db, tailsStatement, [runId]);
  return new Map(rows.flatMap((row) => readTail(row).actions.map((step) => [step.index, step] as const)));
}

/**
 * Returns every action of a run in words, by index: what a gate released from its staged text, the others filled in from the event, or as they are
 * written where it lacks a value. The caller may read the run.
 */
export async function describeSteps(ctx: Pick<Context, 'db'>, shown: ShownRun): Promise<ActionLine[]> {
  const { run_id, team_id, creator_id, actions } = shown;
  const answered = await withAnswers(ctx.db, shown);
  const types = new Map(availableActions().map((action) => [action.type, action]));
  const staged = await readTails(ctx, run_id);
  const steps = actions.map((action, index): StagedStep => {
    const known = staged.get(index);
    if (known) return known;
    const step = fillIn(answered, index, types.get(action['type'] as string));
    return { ...step, params: step.params ?? storedParams(shown, index), refused: null };
  });
  const [names = {}] = await namesAt(ctx, [collectWanted(team_id ?? creator_id, steps, creator_id)]);
  return presentSteps(
    steps.map((step) => ({ ...step, isDone: shown.done.has(step.index) })),
    names,
  );
}
