import { z } from 'zod';
import { Id, StrictInt, Timestamp } from '../../../platform/fields.js';

export const ReadCycleTimes = z.object({
  team_id: Id.optional(),
  project_id: Id.optional(),
  days: StrictInt(1, 365, 90).meta({ description: 'Counts merges of the last so many days' }),
});
export type ReadCycleTimes = z.output<typeof ReadCycleTimes>;

const statistics = {
  median_hours: z.number(),
  p75_hours: z.number(),
  sample_size: z.int(),
};

export const CycleTimes = z
  .object({
    window_days: z.int(),
    sample_size: z.int().meta({ description: 'Issues closed by a merge in the window' }),
    by_repo: z.array(z.object({ repo: z.string(), ...statistics })),
    by_project: z.array(z.object({ project_id: z.string(), project_name: z.string(), ...statistics })),
    samples: z
      .array(
        z.object({
          repo: z.string(),
          issue_number: z.int(),
          pr_number: z.int(),
          project_id: z.string().nullable(),
          task_id: z.string().nullable(),
          opened_at: Timestamp,
          merged_at: Timestamp,
          hours: z.number(),
          reopened: z.boolean().meta({ description: 'The issue was reopened at least once' }),
        }),
      )
      .meta({ description: 'The newest 500' }),
  })
  .meta({ id: 'CycleTimes' });
export type CycleTimes = z.output<typeof CycleTimes>;
