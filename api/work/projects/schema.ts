import { z } from 'zod';
import { ClampedInt, DATE_FORMATS, Id, Text, Timestamp, Title } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { HEALTH, PROJECT_STATUSES } from './rules.js';

const Name = Title(200);
const Description = Text.max(5000).meta({ description: 'An empty description is stored as null' });
const Status = z.enum(PROJECT_STATUSES);
export const Health = z.enum(HEALTH);
/** The operation checks the form, because a malformed date returns 400, not 422 (docs/decisions/platform.md#status-400-or-422). */
const Day = Text.meta({
  override: { ...DATE_FORMATS, description: 'ISO 8601 date; a date-time is cut to its day in UTC', example: '2026-12-01' },
});
const Lead = Id.meta({ description: 'Who leads the project: a member of its team, else a 400' });
const SameTeam = Id.optional().meta({ description: 'A project cannot change its team: another team is a 400' });

export const CreateProject = z
  .object({
    name: Name,
    team_id: Id,
    description: Description.nullish(),
    status: Status.nullish(),
    start_date: Day.nullish(),
    end_date: Day.nullish(),
    lead_id: Lead.nullish(),
  })
  .meta({ id: 'CreateProject' });
export type CreateProject = z.output<typeof CreateProject>;

export const UpdateProject = z
  .object({
    name: Name.optional(),
    team_id: SameTeam,
    description: Description.nullable().optional(),
    status: Status.optional(),
    start_date: Day.nullable().optional(),
    end_date: Day.nullable().optional(),
    lead_id: Lead.nullable().optional(),
  })
  .meta({ id: 'UpdateProject' });
export type UpdateProject = z.output<typeof UpdateProject>;

/** Missing fields are reset to their defaults. */
export const ReplaceProject = z
  .object({
    name: Name,
    team_id: SameTeam,
    description: Description.nullish(),
    status: Status.nullish(),
    start_date: Day.nullish(),
    end_date: Day.nullish(),
    lead_id: Lead.nullish(),
  })
  .meta({ id: 'ReplaceProject' });
export type ReplaceProject = z.output<typeof ReplaceProject>;

export const ProjectParams = z.object({ project_id: Id });

export const ListProjects = z.object({
  team_id: Id.optional().meta({ description: 'A team without membership gives an empty list' }),
  ...byOffset(ClampedInt(1, 2000, 500)),
});
export type ListProjects = z.output<typeof ListProjects>;

export const ProjectRecord = z
  .object({
    project_id: z.string(),
    name: z.string(),
    team_id: z.string(),
    description: z.string().nullable(),
    status: Status,
    start_date: z.string().nullable().meta({ format: 'date' }),
    end_date: z.string().nullable().meta({ format: 'date' }),
    lead_id: z.string().nullable().meta({ description: 'Who leads the project: a member of the team' }),
    health: Health.nullable().meta({ description: 'That of the newest update; null without one' }),
    health_at: Timestamp.nullable().meta({ description: 'When that update was posted' }),
    created_by: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'Project' });
export type ProjectRecord = z.output<typeof ProjectRecord>;

/** Response to a write of a project. */
export const ProjectWrite = z
  .object({
    action_id: z.string().meta({ description: 'Id of the write’s audit entry' }),
    status: z.literal('verified'),
    verified: z.literal(true).meta({ description: 'The row was read again before the commit and matches the request' }),
    message: z.string(),
    affected_entities: z.array(
      z.object({ entity_type: z.literal('project'), entity_id: z.string(), action: z.enum(['create', 'update', 'delete']) }),
    ),
    data: ProjectRecord,
    rollback_available: z.boolean().meta({ description: 'The trash or an inverse update can undo it' }),
    timestamp: Timestamp,
  })
  .meta({ id: 'ProjectWrite' });
export type ProjectWrite = z.output<typeof ProjectWrite>;

export const TrashedProject = z
  .object({
    message: z.string(),
    success: z.literal(true),
    verified: z.literal(true),
    soft_deleted: z.literal(true),
    deleted_at: Timestamp,
    restore_url: z.string(),
    retention_days: z.int(),
    cascade_count: z.int().meta({ description: 'Tasks, notes, files, whiteboards and docs moved to the trash with it' }),
  })
  .meta({ id: 'TrashedProject' });
export type TrashedProject = z.output<typeof TrashedProject>;
