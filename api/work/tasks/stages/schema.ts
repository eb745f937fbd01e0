import { z } from 'zod';
import { Id, Title } from '../../../platform/fields.js';
import { TaskStatus } from '../columns.js';
import { TASK_STATUSES } from '../rules.js';
import { MAX_POSITION } from './places.js';

const Name = Title(40).meta({ description: 'Unique in the team, in any case, and not that of a status' });
const Position = z
  .int()
  .min(-MAX_POSITION)
  .max(MAX_POSITION)
  .refine((position) => position !== 0, 'must not be 0, where the tasks of the status without a stage stand')
  .meta({
    description:
      'Order within the status: below 0 before its tasks that are in no stage, above 0 after them; what stands there already moves on',
  });

export const CreateStage = z
  .object({ team_id: Id, name: Name, status: TaskStatus, position: Position.nullish() })
  .meta({ id: 'CreateStage' });
export type CreateStage = z.output<typeof CreateStage>;

export const UpdateStage = z
  .object({
    name: Name.optional(),
    position: Position.optional(),
    status: z.string().optional().meta({ description: 'Cannot change' }),
  })
  .meta({ id: 'UpdateStage' });
export type UpdateStage = z.output<typeof UpdateStage>;

export const StageParams = z.object({ stage_id: Id });
export const ListStages = z.object({ team_id: Id });

export const StageRecord = z
  .object({ stage_id: z.string(), team_id: z.string(), name: z.string(), status: z.enum(TASK_STATUSES), position: z.int() })
  .meta({ id: 'Stage' });
export type StageRecord = z.output<typeof StageRecord>;

export const DeletedStage = z
  .object({
    success: z.literal(true),
    stage_id: z.string(),
    tasks: z.int().meta({ description: 'Tasks that were in it, and are now in no stage' }),
  })
  .meta({ id: 'DeletedStage' });
