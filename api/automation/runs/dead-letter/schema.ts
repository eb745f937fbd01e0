import { z } from 'zod';
import { Id, StrictInt, Timestamp } from '../../../platform/fields.js';
import { byCursor } from '../../../platform/endpoint/pages.js';
import { TriggerType } from '../../definitions/schema.js';
import { RUN_STATUSES } from '../record/rules.js';

export const ListDeadLetters = z.object({ team_id: Id.optional(), ...byCursor('run_id', StrictInt(1, 200, 50)) });
export type ListDeadLetters = z.output<typeof ListDeadLetters>;

const Failure = z.object({ code: z.string(), message: z.string() });

export const DeadLetterList = z
  .object({
    entries: z.array(
      z.object({
        run_id: z.string(),
        automation_id: z.string(),
        automation_name: z.string(),
        automation_version: z.int(),
        team_id: z.string().nullable(),
        trigger_type: TriggerType,
        failed_at: Timestamp.nullable(),
        error: Failure.nullable(),
        failed_actions: z.array(z.object({ index: z.int(), type: z.string(), error: Failure.nullable() })),
        event_truncated: z.boolean(),
        retryable: z.boolean(),
        not_retryable_reason: z.enum(['event_truncated', 'replay_running']).nullable(),
        retry_count: z.int(),
        last_retry_run_id: z.string().nullable(),
      }),
    ),
    total: z.int(),
    showing: z.int().meta({ description: 'Entries in this answer' }),
  })
  .meta({ id: 'DeadLetterList' });
export type DeadLetterList = z.output<typeof DeadLetterList>;

export const RetryRun = z
  .object({
    version: z
      .enum(['current', 'original'])
      .nullish()
      .meta({ description: 'The automation as it is now (default), or as it was when the run started' }),
    actions: z
      .enum(['all', 'failed'])
      .nullish()
      .meta({ description: '`failed` leaves out what succeeded the first time; gates in front of the rest ask again' }),
  })
  .meta({ id: 'RetryRun' });
export type RetryRun = z.output<typeof RetryRun>;

export const RetriedRun = z
  .object({
    success: z.literal(true),
    run_id: z.string().meta({ description: 'The new run' }),
    retry_of: z.string(),
    automation_version: z.int(),
    status: z.enum(RUN_STATUSES),
  })
  .meta({ id: 'RetriedRun' });
export type RetriedRun = z.output<typeof RetriedRun>;
