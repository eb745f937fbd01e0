import { z } from 'zod';
import { Id, Timestamp } from '../../../platform/fields.js';
import { Reason } from '../schema.js';

export const JobParams = z.object({ job_id: Id });

export const Deprovision = z
  .object({
    reason: Reason,
    reassign_to: Id.nullish().meta({
      description: 'User id of the successor: takes over open tasks in shared teams, and teams that would have no admin',
    }),
  })
  .meta({ id: 'Deprovision' });
export type Deprovision = z.output<typeof Deprovision>;

const JOB_STATUSES = ['queued', 'running', 'succeeded'] as const;
export const JobRef = z.object({ job_id: z.string(), status: z.enum(JOB_STATUSES) }).meta({ id: 'DeprovisionJobRef' });
export type JobRef = z.output<typeof JobRef>;

const Step = z.object({
  step: z.string(),
  team_id: z.string().nullable(),
  result: z.record(z.string(), z.unknown()).meta({ description: 'Counts and ids of the step' }),
  done_at: Timestamp,
});
export const Job = z
  .object({
    job_id: z.string(),
    user_id: z.string(),
    reassign_to: z.string().nullable(),
    reason: z.string(),
    created_by: z.string().nullable().meta({ description: 'null: started from the command line' }),
    status: z.enum(JOB_STATUSES),
    steps: z.array(Step).meta({ description: 'Completed steps, in order' }),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'DeprovisionJob' });
export type Job = z.output<typeof Job>;
