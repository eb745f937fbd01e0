import { GATE } from '../api/automation/actions/rules.js';
import type { ActionOutcome, GateView, RunPlan, RunResult, RunStep, Wait } from './contracts/run-contract.js';

const MARK: Record<ActionOutcome, string> = { succeeded: '✓', failed: '✗', stop: '✗', skipped: '–', waiting: '»' };
const SAID: Record<ActionOutcome, string> = {
  succeeded: 'succeeded',
  failed: 'failed',
  stop: 'failed; remaining actions skipped',
  skipped: 'skipped',
  waiting: 'waiting',
};

const minute = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** Messages by final status, if no step decided it. */
const RESULT: Record<string, string> = {
  succeeded: 'All steps completed',
  failed: 'A step failed',
  skipped: 'Nothing to do',
  expired: 'The approval expired',
  cancelled: 'Cancelled',
};

/** Describes the missing approvers of a gate. */
function approvers({ requiredRole, requiredApprovals = 1, approvals = 0 }: GateView): string {
  if (requiredApprovals === 1) return `a **${requiredRole}**`;
  const left = Math.max(requiredApprovals - approvals, 1);
  if (approvals > 0) return `${left} more (at least **${requiredRole}**)`;
  return `${left} approvers (at least **${requiredRole}**)`;
}

/** `manual` and `schedule` are not events; all other triggers are. */
const STARTED: Record<string, string> = { manual: 'Started manually', schedule: 'Started by schedule' };

/** Builds the workflow's current details: each step, the state of the run, and the missing approvers. Names and times only. */
export class RunDetails {
  private readonly lines: string[];
  private headline = 'Running';
  /** The first step that failed, or the gate that did not pass, with the reason. */
  private decisive: { step: string; message: string } | undefined;

  constructor(private readonly plan: RunPlan) {
    this.lines = plan.steps.map((step) => `· ${this.name(step)}`);
  }

  /** `code`: reason of a failure. */
  acted(step: RunStep, outcome: ActionOutcome, code?: string): void {
    this.headline = 'Running';
    if (outcome === 'failed' || outcome === 'stop')
      this.decisive ??= { step: step.label, message: code === undefined ? 'Failed' : `Failed: ${code}` };
    this.write(step, `${MARK[outcome]} ${this.name(step)}: ${SAID[outcome]}${code === undefined ? '' : ` · \`${code}\``}`);
  }

  /** A delay, the wait before a retry, or the wait for an answer. */
  pausing(step: RunStep, { until, attempt, forAnswer }: Wait): void {
    if (forAnswer) {
      this.headline = 'Waiting for the answer of a model';
      this.write(step, `» ${this.name(step)}: waiting for the answer of a model`);
      return;
    }
    const why = attempt ? `attempt ${attempt.next} of ${attempt.of}` : 'continues';
    this.headline = `Waiting: ${why} at ${minute(until)}`;
    this.write(step, `» ${this.name(step)}: ${why} at ${minute(until)}`);
  }

  waiting(step: RunStep, view: GateView): void {
    const lapsed = view.state === 'lapsed';
    this.headline = lapsed
      ? `The approval expired at ${minute(view.expiresAt)}: reject it, or the run is closed after 30 days`
      : `Waiting for ${approvers(view)} to approve, until ${minute(view.expiresAt)}`;
    const { approvals = 0, requiredApprovals = 1 } = view;
    const soFar = approvals > 0 ? `, ${approvals} of ${requiredApprovals} approved` : '';
    this.write(step, `» ${this.name(step)}: ${lapsed ? 'expired' : 'waiting'}${soFar}`);
  }

  decided(step: RunStep, view: GateView): void {
    const approved = view.state === 'approved';
    const at = view.decidedAt ? ` at ${minute(view.decidedAt)}` : '';
    const [mark, said] = approved ? ['✓', `approved${at}`] : ['✗', view.rejected ? `rejected${at}` : 'not approved'];
    this.headline = approved ? 'Approved, running' : 'Not approved';
    if (!approved && view.rejected) this.decisive = { step: step.label, message: 'Rejected' };
    const by = view.decidedBy?.length ? ` by ${view.decidedBy.map((user) => `\`${user}\``).join(', ')}` : '';
    this.write(step, `${mark} ${this.name(step)}: ${said}${by}`);
  }

  ended(status: string): void {
    this.headline = `Ended: **${this.decisive?.message === 'Rejected' ? 'rejected' : status}**`;
  }

  /** Returns the workflow's result for a run that ended with `status`. */
  result(status: string): RunResult {
    const isDecisive = status === 'failed' || (status === 'skipped' && this.decisive?.message === 'Rejected');
    const { step, message } = (isDecisive && this.decisive) || { step: null, message: RESULT[status] ?? status };
    return { status, step, message };
  }

  /** Returns the details as Markdown. */
  text(): string {
    const { automationName, triggerType, isTest } = this.plan;
    return [
      `### ${automationName}`,
      `${STARTED[triggerType] ?? `Triggered by \`${triggerType}\``}${isTest ? ', as a test run: no effects' : ''}`,
      this.headline,
      this.lines.map((line, i) => `${i + 1}. ${line}`).join('\n'),
    ].join('\n\n');
  }

  private name(step: RunStep): string {
    return step.type === GATE
      ? `Gate “${step.label}”`
      : step.label === step.type
        ? `\`${step.type}\``
        : `${step.label} (\`${step.type}\`)`;
  }

  private write(step: RunStep, line: string): void {
    const at = this.plan.steps.findIndex(({ index }) => index === step.index);
    this.lines[at] = line;
  }
}
