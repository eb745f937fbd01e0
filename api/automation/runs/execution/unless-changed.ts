import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { readVersions } from '../../../gate/staging/changed-since.js';
import { customFieldsChanged } from '../../../gate/staging/custom-values.js';
import { lockTargets } from '../../../gate/staging/lock-targets.js';
import { announceGate, type OpenedGate } from '../approvals/asking/announce-gate.js';
import { keepVersions } from '../staging/known-versions.js';
import { storeTail } from '../staging/store-tail.js';
import { readTail, type StagedStep } from '../staging/tail.js';
import { endInFailure } from './action-failure.js';
import { systemContext } from './load-run.js';
import { publish } from './publish.js';
import { restartRun } from './restart-run.js';
import { reopenGateStatement } from './unless-changed.sql.js';
import type { ActiveStep, AskingGate, Step, StepOutcome } from './with-step.js';

/** How often a change opens a gate again. */
const MAX_REOPENED = 3;

const CHANGED = {
  code: 'changed_since_approval',
  message: 'A target has changed since the approval, once more after the gate had been opened again for that three times',
};

/** Returns what the approved text has left to do, each with the version that its target should have. */
function listRemaining({ staged, staged_hash }: ActiveStep, gate: AskingGate, index: number) {
  if (staged == null || staged_hash == null) return [];
  const expected = ({ entity_id, expected_version }: StagedStep): number | null =>
    new Map(Object.entries(gate.known_versions ?? {})).get(entity_id ?? '') ?? expected_version;
  return readTail({ staged, staged_hash }).actions.flatMap((step) =>
    step.index >= index && step.params !== null ? [{ ...step, params: step.params, expected_version: expected(step) }] : [],
  );
}

/** Opens the gate again. Its text holds what is left to do; another execution of the run waits at it. */
async function reopen(
  services: Services,
  begun: ActiveStep,
  { gate_index }: AskingGate,
  changed: string[],
): Promise<StepOutcome> {
  const { run_id, automation_name } = begun;
  const [opened] = await run<OpenedGate>(services.db, reopenGateStatement, [run_id, gate_index]);
  if (!opened) throw new Error('The run has no such gate');
  const ctx = systemContext(services, begun);
  const tail = await storeTail(services, begun, gate_index);
  const summary = `asked again for an approval of ${automation_name}: a target changed after the approval`;
  await announceGate(ctx, begun, gate_index, { ...opened, ...tail }, { summary, changed });
  await publish(ctx, 'automation.run_paused', begun, { gate_index });
  await restartRun(services.db, begun);
  return { status: 'staged', error: null, restarted: true };
}

/**
 * Does `work`, unless the gate before the step asks again and a target of what is left to do has changed since the first yes. Then nothing is done:
 * the gate opens again, or the run fails if that has happened three times. Locks the targets until the commit, so that nothing changes between
 * the comparison and the work. What the run changes by itself does not count (docs/decisions/gate.md#changes-after-a-yes).
 * @throws what `work` throws
 */
export async function unlessChanged(
  services: Services,
  begun: ActiveStep,
  { index }: Step,
  work: () => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { gate, run_id } = begun;
  if (!gate) return work();
  const ctx = systemContext(services, begun);
  const left = listRemaining(begun, gate, index);
  const stale = await lockTargets(ctx, left);
  const due = left.find((step) => step.index === index);
  if (due && (await customFieldsChanged(ctx, due))) stale.push({ index, expected: 0, found: 0 });
  if (stale.length > 0) {
    if (gate.reopened >= MAX_REOPENED) return { ...(await endInFailure(services.db, begun, index, CHANGED)), on_failure: 'stop' };
    const changed = left.flatMap(({ index, entity_id }) =>
      stale.some((each) => each.index === index) && entity_id ? [entity_id] : [],
    );
    return reopen(services, begun, gate, [...new Set(changed)]);
  }
  const done = await work();
  await keepVersions(services.db, [run_id, gate.gate_index], await readVersions(ctx, left));
  return done;
}
