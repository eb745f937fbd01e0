import { performStep } from '../api/identity/admin/deprovisioning/perform-step.js';
import { planJob } from '../api/identity/admin/deprovisioning/plan-job.js';
import { STEPS } from '../api/identity/admin/deprovisioning/steps.js';
import type { Services } from '../api/platform/context.js';
import {
  type DeprovisionActivities,
  type DeprovisionActivity,
  type DeprovisionInput,
  type DeprovisionStepName,
  deprovisionWorkflowId,
  USER_DEPROVISION,
} from '../workflows/contracts/deprovision-contract.js';
import { defineStatement } from '../db/statement.js';
import { defineRowWorkflow } from './row-workflow.js';

/** Activities of the deprovision workflow: each step is an activity of its own name. */
export function deprovisionActivities(services: Services): DeprovisionActivities & Record<string, unknown> {
  const step =
    (name: DeprovisionStepName): DeprovisionActivity =>
    (jobId, teamId) =>
      performStep(services, name, jobId, teamId);
  const steps = Object.keys(STEPS).map((name) => [name, step(name as DeprovisionStepName)]);
  return { ...Object.fromEntries(steps), planDeprovision: (jobId: string) => planJob(services, jobId) };
}

/** An outbox row that starts a deprovisioning. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  job_id: string;
  user_id: string;
  requested_by: string | null;
}

/** $1 = leased rows. */
const dispatches = defineStatement({
  name: 'deprovision_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, j.job_id, j.user_id, j.requested_by
    from outbox o join deprovision_jobs j on j.job_id = (o.payload->>'job_id')::uuid where o.outbox_id = any($1::bigint[])`,
});

/** $1 = job id after which to continue, $2 = row limit. Unfinished jobs without a row in the outbox. */
const open = defineStatement({
  name: 'open_deprovisions',
  text: /* sql */ `
    select j.job_id, j.user_id from deprovision_jobs j
    where j.finished_at is null and j.job_id > $1
      and not exists (select from outbox o where o.kind = 'user.deprovision' and o.payload->>'job_id' = j.job_id::text)
    order by j.job_id limit $2`,
});

/** $1 = job ids. Enqueues their starts again. */
const restart = defineStatement({
  name: 'restart_deprovisions',
  text: /* sql */ `
    insert into outbox (kind, subject, payload, correlation_id)
    select 'user.deprovision', j.user_id::text, jsonb_build_object('job_id', j.job_id), j.correlation_id from deprovision_jobs j
    where j.job_id = any($1::uuid[]) and j.finished_at is null returning outbox_id`,
});

/** Users who are deprovisioned: one workflow per user. */
export const deprovisionings = defineRowWorkflow<Row, { job_id: string; user_id: string }>({
  notes: [
    {
      process: 'user_deprovision',
      workflowId: 'deprov:<user_id>',
      shows: 'Users who are deprovisioned; the details show the steps that are done',
    },
  ],
  invariants: [
    {
      name: 'deprovisions_carried',
      words: 'No deprovisioning has been unfinished for more than 60 s without an open workflow',
      sql: /* sql */ `
        select user_id::text as violation from deprovision_jobs
        where finished_at is null and created_at < clock_timestamp() - interval '60 seconds' order by created_at`,
      buildWorkflowId: deprovisionWorkflowId,
    },
  ],
  activities: { core: deprovisionActivities },
  plural: 'deprovisioning jobs',
  kinds: ['user.deprovision'],
  dispatches,
  workflow: USER_DEPROVISION,
  getId: ({ user_id }) => deprovisionWorkflowId(user_id),
  input: ({ job_id }): DeprovisionInput => ({ jobId: job_id }),
  attributes: ({ user_id, requested_by }) => ({ RunState: 'running', EntityId: user_id, ActorId: requested_by }),
  summary: () => 'Deprovision user',
  details: ({ job_id, user_id, correlation_id }) =>
    [`Job \`${job_id}\` of user \`${user_id}\``, `Correlation id \`${correlation_id}\` (in the logs and the audit log)`].join(
      '\n\n',
    ),
  key: 'job_id',
  open,
  restart,
});
