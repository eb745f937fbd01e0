import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { performStep } from '../api/admin/deprovisioning/perform-step.js';
import { planJob } from '../api/admin/deprovisioning/plan-job.js';
import { STEPS } from '../api/admin/deprovisioning/steps.js';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import {
  type DeprovisionActivities,
  type DeprovisionActivity,
  type DeprovisionInput,
  type DeprovisionStepName,
  deprovisionWorkflowId,
  taskQueue,
  USER_DEPROVISION,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { each } from './worker/each.js';
import { isWorkflowOpen } from './worker/open-workflows.js';

/** Activities of the deprovision workflow: each step is an activity of its own name. */
export function deprovisionActivities(services: Services): DeprovisionActivities & Record<string, unknown> {
  const step =
    (name: DeprovisionStepName): DeprovisionActivity =>
    (jobId, teamId) =>
      performStep(services, name, jobId, teamId);
  const steps = Object.keys(STEPS).map((name) => [name, step(name as DeprovisionStepName)]);
  return { ...Object.fromEntries(steps), planDeprovision: (jobId: string) => planJob(services, jobId) };
}

interface Start {
  outbox_id: number;
  correlation_id: string;
  job_id: string;
  user_id: string;
  requested_by: string | null;
}

/** $1 = leased rows. */
const details = {
  name: 'deprovision_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, j.job_id, j.user_id, j.requested_by
    from outbox o join deprovision_jobs j on j.job_id = (o.payload->>'job_id')::uuid where o.outbox_id = any($1::bigint[])`,
};

/** Enqueues jobs again. */
const REQUEUE = /* sql */ `
  insert into outbox (kind, subject, payload, correlation_id)
  select 'user.deprovision', j.user_id::text, jsonb_build_object('job_id', j.job_id), j.correlation_id from deprovision_jobs j
  where j.job_id = any(?) and j.finished_at is null`;

/** Unfinished jobs without a row in the outbox. */
const OPEN = /* sql */ `
  select j.job_id, j.user_id from deprovision_jobs j
  where j.finished_at is null
    and not exists (select from outbox o where o.kind = 'user.deprovision' and o.payload->>'job_id' = j.job_id::text)`;

/** Starts deprovision workflows: one per user, however often it is repeated. */
export class DeprovisionDispatcher implements Dispatcher<Start> {
  readonly kinds = ['user.deprovision'];
  readonly details = details;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /** Restarts the workflow of every open job that has none, after a lost store or a terminated workflow. Returns the number. */
  async reconcile({ db, log, notifyRelay }: Services): Promise<number> {
    const { rows } = await db.raw<{ rows: { job_id: string; user_id: string }[] }>(OPEN);
    const lost: string[] = [];
    await each(rows, async ({ job_id, user_id }) => {
      if (!(await isWorkflowOpen(this.client, deprovisionWorkflowId(user_id)))) lost.push(job_id);
    });
    if (lost.length === 0) return 0;
    await db.raw(REQUEUE, [lost]);
    log.warn({ restarted: lost.length }, 'deprovisioning jobs without a workflow were restarted');
    notifyRelay();
    return lost.length;
  }

  async dispatch({ job_id, user_id, requested_by, correlation_id }: Start): Promise<void> {
    const { searchable } = this.options;
    const input: DeprovisionInput = { jobId: job_id, ...(searchable ? {} : { searchable: false }) };
    const attributes = [
      { key: ATTRIBUTE.Process, value: 'user_deprovision' },
      { key: ATTRIBUTE.RunState, value: 'running' },
      { key: ATTRIBUTE.EntityId, value: user_id },
      { key: ATTRIBUTE.CorrelationId, value: correlation_id },
      ...(requested_by ? [{ key: ATTRIBUTE.ActorId, value: requested_by }] : []),
    ];
    const started = logScope.run({ correlation_id }, () =>
      this.client.workflow.start(USER_DEPROVISION, {
        workflowId: deprovisionWorkflowId(user_id),
        taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
        args: [input],
        // After a lost execution, the next one finds the remaining steps in the rows.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: 'Deprovision user',
        staticDetails: [
          `Job \`${job_id}\` of user \`${user_id}\``,
          `Correlation id \`${correlation_id}\` (in the logs and the audit log)`,
        ].join('\n\n'),
        ...(searchable ? { typedSearchAttributes: attributes } : {}),
      }),
    );
    await started.catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  }
}
