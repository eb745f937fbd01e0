import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { recordChanges } from '../../../platform/changes/record-change.js';
import { plainText } from '../../../platform/plain-text.js';
import { presentSteps } from '../staging/describe-gates.js';
import { readTail, type StagedStep } from '../staging/tail.js';
import type { LockedGate, LockedRun } from './lock-gate.js';

/** Longest reason that a line of the activity quotes, in characters; the page of the run shows all. */
const MAX_REASON = 200;

/** $1 = task ids, $2 = team id. */
const statement = defineStatement({
  name: 'tasks_of_rejected_gate',
  text: 'select task_id, project_id, title from tasks where task_id = any($1::text[]) and team_id = $2 and deleted_at is null order by task_id',
});

/** Returns the steps of a gate that change an existing task, by its id; none of a text that is damaged, which must not keep it from being rejected. */
function stepsByTask({ staged, staged_hash }: LockedGate): Map<string, StagedStep[]> {
  const found = new Map<string, StagedStep[]>();
  if (staged === null) return found;
  try {
    for (const step of readTail({ staged, staged_hash }).actions)
      if (step.entity_type === 'task' && step.entity_id !== null && step.skipped === undefined)
        found.set(step.entity_id, [...(found.get(step.entity_id) ?? []), step]);
  } catch {
    return new Map();
  }
  return found;
}

/** Says what a step would have done: "Close this task". Our words only: the name that an automation gives its action is a claim. */
function wordStep(step: StagedStep): string {
  if (step.tool === 'task.set_status' && step.after?.['status'] === 'done') return 'Close this task';
  const verb = presentSteps([{ ...step, name: null }], {})[0]?.verb ?? step.type;
  return verb.endsWith(' task') ? `${verb.slice(0, -' task'.length)} this task` : `${verb}: this task`;
}

function wordRejection(steps: readonly StagedStep[], reason: string | null | undefined): string {
  const what = [...new Set(steps.map(wordStep))].join(', ');
  const why = Array.from(
    plainText(reason ?? '')
      .replaceAll(/\s+/gu, ' ')
      .trim(),
  );
  const quoted = why.length > MAX_REASON ? `${why.slice(0, MAX_REASON).join('')}…` : why.join('');
  return `rejected: ${what}${quoted === '' ? '' : ` (${quoted})`}`;
}

/**
 * Leaves a line in the activity of each task that a rejected gate would have changed, in the rejection's transaction. Only of a team's run, and of tasks of
 * that team: its members may read both.
 */
export async function recordRejected(
  ctx: Context,
  locked: LockedRun,
  gate: LockedGate,
  reason: string | null | undefined,
): Promise<void> {
  const { team_id, run_id, automation_id } = locked;
  const steps = stepsByTask(gate);
  if (team_id === null || steps.size === 0) return;
  type Row = { task_id: string; project_id: string; title: string };
  const tasks = await run<Row>(ctx.db, statement, [[...steps.keys()], team_id]);
  if (tasks.length === 0) return;
  await recordChanges(
    ctx,
    tasks.map(({ task_id, project_id, title }) => ({
      team_id,
      project_id,
      feature: 'approvals',
      action: 'reject',
      entity_type: 'task',
      entity_id: task_id,
      title,
      summary: wordRejection(steps.get(task_id) ?? [], reason),
      details: { run_id, automation_id, gate_index: gate.gate_index },
    })),
  );
}
