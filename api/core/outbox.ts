import type { Context } from './context.js';

/** Work that follows a commit and is carried by the relay. Events are written by `recordChange` and `enqueueEvents`. */
export type OutboxKind =
  /** `{run_id, incarnation}`: start the run's workflow. */
  | 'run.start'
  /** `{run_id, incarnation, gate_index?}`: something about the run was decided; its workflow re-reads the rows. */
  | 'run.wake'
  /** `{receipt_id}`: do the database work of an inbound delivery. */
  | 'forge.delivery'
  /** `{automation_id}`: written by the triggers of 0009; the automation's Temporal Schedule is made, changed or deleted. */
  | 'schedule.sync'
  /** `{series_id, occurrence_index}`: written by the triggers of 0004; the series' workflow is woken, or started. */
  | 'series.completed'
  | 'series.changed'
  | 'series.ended'
  /** `{job_id}`: somebody leaves for good; start the workflow that takes them out. */
  | 'user.deprovision'
  /** `{revocation_id}`: a connection was ended; the worker has the service take its tokens back. */
  | 'integration.revoke';

/** Puts work into the outbox, in the transaction of what caused it (R1). `subject` is what an operator reads in the table. */
export async function enqueue(ctx: Context, kind: OutboxKind, subject: string, payload: Record<string, unknown>): Promise<void> {
  await ctx.db('outbox').insert({ kind, subject, payload: JSON.stringify(payload), correlation_id: ctx.correlationId });
}
