import { z } from 'zod';
import { DATE_FORMATS, Id, TaskId, Text, Timestamp, Title } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { CYCLE_STATUSES, MAX_ADDED, ROLLOVERS } from './rules.js';

/** A malformed day is a 400 of the operation (docs/decisions/platform.md#status-400-or-422). */
const Day = Text.meta({ override: { ...DATE_FORMATS, description: 'ISO 8601 date; a date-time counts as its day in UTC' } });
const Goal = Text.trim().max(2000);
const AUTO = 'Complete the cycle at the end of `end_date`, UTC. Open tasks go to the next cycle, else to the backlog';

const REPEATS =
  'The next cycle is planned when this one starts, unless one is planned: as long, right behind it. It starts when this one completes by itself, unless its own start_date is later';

export const CycleParams = z.object({ cycle_id: Id });
export const CycleTaskParams = z.object({ cycle_id: Id, task_id: TaskId });

export const ListCycles = z.object({
  team_id: Id.meta({ description: 'Another team gives an empty list' }),
  status: z.enum(CYCLE_STATUSES).optional(),
  ...byOffset(),
});
export type ListCycles = z.output<typeof ListCycles>;

export const CreateCycle = z
  .object({
    name: Title(200),
    goal: Goal.nullish(),
    team_id: Id.nullish().meta({ description: 'Default: the team of the project' }),
    project_id: Id.nullish().meta({ description: 'null: the cycle may hold tasks of any project of the team' }),
    start_date: Day.nullish(),
    end_date: Day.nullish(),
    auto_complete: z
      .boolean()
      .nullish()
      .meta({ description: `${AUTO}. Needs end_date` }),
    repeats: z
      .boolean()
      .nullish()
      .meta({ description: `${REPEATS}. Needs start_date, end_date and auto_complete` }),
  })
  .refine(({ team_id, project_id }) => (team_id ?? project_id ?? null) !== null, {
    path: ['team_id'],
    error: 'is required, unless project_id is given',
  })
  .meta({ id: 'CreateCycle' });
export type CreateCycle = z.output<typeof CreateCycle>;

const Same = (what: string) => Id.nullish().meta({ description: `A cycle cannot change its ${what}: another one is a 400` });

export const UpdateCycle = z
  .object({
    name: Title(200).optional(),
    goal: Goal.nullable().optional(),
    start_date: Day.nullable().optional(),
    end_date: Day.nullable().optional(),
    auto_complete: z.boolean().optional().meta({ description: AUTO }),
    repeats: z.boolean().optional().meta({ description: REPEATS }),
    team_id: Same('team'),
    project_id: Same('project'),
  })
  .meta({ id: 'UpdateCycle' });
export type UpdateCycle = z.output<typeof UpdateCycle>;

export const AddTasks = z.object({ task_ids: z.array(TaskId).min(1).max(MAX_ADDED) }).meta({ id: 'AddTasksToCycle' });

export const CompleteCycle = z
  .object({
    rollover_to: z
      .union([z.enum(ROLLOVERS), Id])
      .default('backlog')
      .meta({ description: '`backlog`, `next` (the earliest planned cycle of the same team and project), or the id of a cycle' }),
    include_parents: z
      .boolean()
      .default(false)
      .meta({ description: 'Also moves open tasks with subtasks; no figure counts them' }),
  })
  .meta({ id: 'CompleteCycle' });
export type CompleteCycle = z.output<typeof CompleteCycle>;

const figures = {
  committed: z.int().meta({ description: 'Tasks in the cycle when it started' }),
  added: z.int().meta({ description: 'Tasks added later' }),
  completed: z.int(),
  carried_over: z.int().meta({ description: 'Open tasks when the cycle was completed; 0 before' }),
  points: z.object({ committed: z.number(), completed: z.number() }).meta({ description: 'Sums of `estimated_hours`' }),
  estimate: z
    .object({
      scope: z.int(),
      completed: z.int(),
      without: z.int().meta({ description: 'Open tasks without an estimate that have no subtasks' }),
    })
    .optional()
    .meta({
      description:
        'Sums of `estimate`, also of tasks with subtasks, not of those that were canceled; absent where no task is estimated',
    }),
};
const days = z
  .array(
    z.object({
      date: z.string().meta({ format: 'date' }),
      remaining: z.int(),
      estimate: z.int().optional().meta({
        description: 'Sum of `estimate` of the open tasks, also of those with subtasks; absent where no task is estimated',
      }),
    }),
  )
  .meta({ description: 'Open tasks at the end of each day, UTC, from the start on; at most 366 days' });

export const CycleSnapshot = z
  .object({ ...figures, days })
  .meta({ id: 'CycleSnapshot', description: 'Figures at the completion. Tasks with subtasks do not count' });

export const Cycle = z
  .object({
    cycle_id: z.string(),
    name: z.string(),
    goal: z.string().nullable(),
    team_id: z.string(),
    project_id: z.string().nullable(),
    number: z.int().meta({ description: 'Counts the cycles of the team and project' }),
    start_date: z.string().nullable().meta({ format: 'date' }),
    end_date: z.string().nullable().meta({ format: 'date' }),
    status: z.enum(CYCLE_STATUSES),
    auto_complete: z.boolean(),
    repeats: z.boolean(),
    task_count: z.int(),
    done_count: z.int(),
    created_by: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    snapshot: CycleSnapshot.nullable().meta({ description: 'null until the cycle is completed' }),
  })
  .meta({ id: 'Cycle' });
export type Cycle = z.output<typeof Cycle>;

export const CycleReport = z.object({ cycle: Cycle, ...figures, days }).meta({ id: 'CycleReport' });
export type CycleReport = z.output<typeof CycleReport>;
export type Figures = Omit<CycleReport, 'cycle'>;

export const DeletedCycle = z.object({ success: z.literal(true), cycle_id: z.string() }).meta({ id: 'DeletedCycle' });
export const RemovedTask = z.object({ success: z.literal(true), task_id: z.string() }).meta({ id: 'RemovedTask' });
