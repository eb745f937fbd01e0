import type { Knex } from 'knex';
import { fn } from 'objection';
import { RunAction } from '../../../../../db/models/automation/run-action.js';
import { run as sql } from '../../../../../db/statement.js';
import type { GateView } from '../../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../../platform/context.js';
import { GATE_DEFAULTS, type GateRole } from '../../../actions/rules.js';
import { announceGate, type OpenedGate } from './announce-gate.js';
import { MAX_MESSAGE } from '../../../actions/require-approval.js';
import { renderText } from '../../../language/template.js';
import { findUnreadable, withAnswers } from '../../execution/answers.js';
import { type RunExecution, claimRun } from '../../execution/claim-run.js';
import { recordDryRun } from '../../execution/dry-run.js';
import { endIfDeleted } from '../../execution/end-if-deleted.js';
import { type Answered, type RunRow, systemContext } from '../../execution/load-run.js';
import { publish } from '../../execution/publish.js';
import { NEVER_OPENED, readGate } from '../read-gate.js';
import { restartRun } from '../../execution/restart-run.js';
import { stageTail } from '../../staging/stage-tail.js';
import { keepTail } from '../../staging/store-tail.js';
import { skipGate, skipStaged } from './skip-gate.js';
import { openGateStatement, pauseRunStatement, stageStepsStatement } from './open-gate.sql.js';

/** Parameters of `require_approval`, validated when the automation was saved. */
interface GateParams {
  role?: GateRole;
  message?: string;
  expires_in_seconds?: number;
  required_approvals?: number;
  allow_self_approval?: boolean;
  remind_after_seconds?: number;
  signed_in?: boolean;
  if_unchanged?: 'ask' | 'skip';
  if_changed?: 'proceed' | 'ask_again';
}

/** Returns the rendered message, truncated to its limit; the unrendered text if a value that it names is missing. */
function fillMessage({ message }: GateParams, run: RunRow & Answered, index: number): string | null {
  if (message === undefined) return null;
  const { event, answers } = run;
  const rendered = findUnreadable(run, index) === null ? renderText(message, event, answers) : { ok: false as const };
  return (
    Array.from(rendered.ok ? rendered.value : message)
      .slice(0, MAX_MESSAGE)
      .join('') || null
  );
}

/** Passes the gate of a test run: notifies nobody and records who would have been asked. */
async function passInTest(db: Knex, run: RunRow & Answered, index: number, params: GateParams): Promise<GateView> {
  const gate = { role: params.role ?? GATE_DEFAULTS.role, message: fillMessage(params, run, index) };
  await recordDryRun(db, run, index, 'Wait for an approval', gate);
  return { ...NEVER_OPENED, state: 'approved', requiredRole: gate.role };
}

/** Inserts the gate; returns undefined if it exists already. */
async function insertGate(db: Knex, run: RunRow & Answered, index: number, params: GateParams): Promise<OpenedGate | undefined> {
  const [opened] = await sql<OpenedGate>(db, openGateStatement, [
    run.run_id,
    index,
    params.role ?? GATE_DEFAULTS.role,
    params.required_approvals ?? GATE_DEFAULTS.requiredApprovals,
    params.allow_self_approval ?? GATE_DEFAULTS.allowSelfApproval,
    params.signed_in ?? false,
    params.if_changed === 'ask_again',
    fillMessage(params, run, index),
    params.expires_in_seconds ?? GATE_DEFAULTS.expiresInSeconds,
    params.remind_after_seconds ?? null,
  ]);
  return opened;
}

type Staged = Awaited<ReturnType<typeof stageTail>>;

/** Pauses the run, stores what the gate releases and notifies the approvers. */
async function ask(services: Services, run: RunRow, index: number, gate: OpenedGate, staged: Staged): Promise<void> {
  const { db } = services;
  const { run_id } = run;
  await sql(db, pauseRunStatement, [run_id, index]);
  await RunAction.query(db).findById([run_id, index]).patch({ status: 'running', started_at: fn.now(), attempts: 1 });
  await sql(db, stageStepsStatement, [run_id, index]);
  const tail = await keepTail(services, run, index, staged);
  const ctx = systemContext(services, run);
  const summary = `asked for the approval of a ${gate.required_role}`;
  await announceGate(ctx, run, index, { ...gate, ...tail }, { summary });
  await publish(ctx, 'automation.run_paused', run, { gate_index: index });
}

/** Returns true if a step before this one is not done: the rows were restored from a backup and are behind the execution. */
async function hasStepsLeft(db: Knex, { run_id }: RunRow, index: number): Promise<boolean> {
  const left = RunAction.query(db).where({ run_id }).where('index', '<', index);
  return (await left.whereNotIn('status', ['succeeded', 'failed', 'skipped']).resultSize()) > 0;
}

const SKIPPED: GateView = { ...NEVER_OPENED, state: 'approved', skipped: true };

/**
 * Opens a gate: pauses the run and stages what follows, in one transaction. A repeated call only reads the gate. Skips a gate that has nothing to
 * release, or whose actions would change nothing where it says so. Returns the gate's state; `closed` if the run has ended or belongs to another execution.
 */
export async function openGate(services: Services, owner: RunExecution, index: number): Promise<GateView> {
  const { runId } = owner;
  const unopened = await services.db.transaction(async (db): Promise<GateView | null> => {
    const claimed = await claimRun(db, owner);
    if (!claimed) return NEVER_OPENED;
    const run = await withAnswers(db, claimed);
    if (await endIfDeleted({ ...services, db }, run)) return NEVER_OPENED;
    if (await hasStepsLeft(db, run, index)) {
      await restartRun(db, run);
      return NEVER_OPENED;
    }
    const action = run.actions[index] as { params?: GateParams } & GateParams;
    const params = action.params ?? action;
    const found = await skipGate(db, run, index);
    if (found === 'skipped') return SKIPPED;
    if (run.is_test) return passInTest(db, run, index, params);
    const inner = { ...services, db };
    const skipsUnchanged = found === 'asks' && params.if_unchanged === 'skip';
    const staged = skipsUnchanged ? await stageTail(inner, run, index, { skipsUnchanged }) : undefined;
    if (staged && (await skipStaged(db, run, index, staged.actions))) return SKIPPED;
    const opened = await insertGate(db, run, index, params);
    if (opened) await ask(inner, run, index, opened, staged ?? (await stageTail(inner, run, index)));
    return null;
  });
  if (unopened) return unopened;
  services.notifyRelay();
  return readGate(services, runId, index, owner.execution);
}
