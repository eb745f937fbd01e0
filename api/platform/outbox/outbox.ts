import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../context.js';

/** Work that the relay dispatches after a commit. `recordChange` and `enqueueEvents` write events. */
export type OutboxKind =
  /** `{run_id, incarnation}`: start the run's workflow. */
  | 'run.start'
  /** `{run_id, incarnation, gate_index?}`: wake the run's workflow to read its rows again after a decision. */
  | 'run.wake'
  /** `{receipt_id}`: process an inbound delivery in the database. */
  | 'forge.delivery'
  /** `{automation_id}`: update the automation's Temporal Schedule. Written by database triggers. */
  | 'schedule.sync'
  /** `{series_id, occurrence_index}`: signal or start the series' workflow. Written by database triggers. */
  | 'series.completed'
  | 'series.changed'
  | 'series.ended'
  /** `{job_id}`: start the workflow that deprovisions a user. */
  | 'user.deprovision'
  /** `{revocation_id}`: revoke the tokens of a deleted connection at its provider. */
  | 'integration.revoke'
  /** `{message_id, incarnation}`: start the workflow of a turn; wake it after a turn before it ended, or a stop. */
  | 'turn.start'
  | 'turn.wake'
  /** `{action_id, incarnation}`: start the workflow of a staged plan; wake it after a decision. */
  | 'plan.start'
  | 'plan.wake'
  /** `{team_id}`: update the Temporal Schedule of a team's overnight triage. */
  | 'triage.sync'
  /** `{team_id, receipt_id}`: start or wake the triage of a failed CI run, of which this is a delivery. */
  | 'triage.ci'
  /** `{cycle_id}`: start or wake the workflow that completes an active cycle at its end date. Written by a database trigger. */
  | 'cycle.clock'
  /** `{job_id}`: start the workflow of an export or import that has its team's place. */
  | 'bulk.start'
  /** `{job_id}`: start the workflow that undoes an import. */
  | 'bulk.undo'
  /** `{job_id}`: start or wake the workflow of a runner's job. Written by database triggers. */
  | 'runner.job';

/** $1 = kind, $2 = subject, $3 = payload, $4 = correlation id. */
const enqueueStatement = defineStatement({
  name: 'enqueue_work',
  text: 'insert into outbox (kind, subject, payload, correlation_id) values ($1, $2, $3, $4)',
});

/** Enqueues work in the transaction that caused it. `subject` is for operators who read the table. */
export async function enqueue(ctx: Context, kind: OutboxKind, subject: string, payload: Record<string, unknown>): Promise<void> {
  await run(ctx.db, enqueueStatement, [kind, subject, JSON.stringify(payload), ctx.correlationId]);
}
