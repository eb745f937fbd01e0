import { z } from 'zod';
import { LastReadVersion } from '../../definitions/schema.js';
import { RUN_STATUSES } from '../record/rules.js';

/** Body of execute and of test. */
export const ExecuteAutomation = z
  .object({
    event: z
      .record(z.string(), z.unknown())
      .nullish()
      .meta({ description: 'What conditions and templates see as `event`; who, when and where are filled in' }),
    version: LastReadVersion,
  })
  .meta({ id: 'ExecuteAutomation' });
export type ExecuteAutomation = z.output<typeof ExecuteAutomation>;

export const Dispatched = z
  .object({
    run_id: z.string(),
    automation_id: z.string(),
    status: z.enum(RUN_STATUSES).meta({ description: '`skipped` where the condition does not hold' }),
  })
  .meta({ id: 'Dispatched' });
export type Dispatched = z.output<typeof Dispatched>;

export const CancelledRun = z
  .object({ success: z.literal(true), run_id: z.string(), status: z.literal('cancelled') })
  .meta({ id: 'CancelledRun' });
export type CancelledRun = z.output<typeof CancelledRun>;
