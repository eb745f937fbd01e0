import { z } from 'zod';
import { Id, Timestamp } from '../platform/fields.js';
import { byOffset } from '../platform/endpoint/pages.js';
import { ENTITIES, EXPORT_FORMATS, FORMATS, JOB_KINDS, JOB_STATUSES } from './rules.js';

/** Kinds of one request, duplicates included. */
const MAX_SENT_ENTITIES = 100;

export const RequestExport = z
  .object({
    team_id: Id,
    project_ids: z
      .array(Id)
      .min(1)
      .max(500)
      .nullish()
      .meta({ description: 'Only these projects and what belongs to them; default: the whole team' }),
    entities: z
      .array(z.enum(ENTITIES))
      .min(1)
      .max(MAX_SENT_ENTITIES)
      .nullish()
      .meta({ description: 'Default: all. `csv` needs exactly one. `custom_fields` includes their values, except in `csv`' }),
    format: z.enum(EXPORT_FORMATS),
  })
  .refine(({ format, entities }) => format !== 'csv' || new Set(entities ?? ENTITIES).size === 1, {
    path: ['entities'],
    error: 'must name exactly one entity for the format csv',
  })
  .meta({ id: 'RequestExport' });
export type RequestExport = z.output<typeof RequestExport>;

export const JobParams = z.object({ job_id: Id });
export const ListJobs = z.object({ team_id: Id, ...byOffset() });
export type ListJobs = z.output<typeof ListJobs>;

/** Response to a request that begins a job. */
export const BulkJobRef = z
  .object({ job_id: z.string(), kind: z.enum(JOB_KINDS), status: z.enum(JOB_STATUSES) })
  .meta({ id: 'BulkJobRef' });
export type BulkJobRef = z.output<typeof BulkJobRef>;

const LineMessages = z.array(z.object({ line: z.int(), entity: z.string().nullable(), message: z.string() }));

/** A job in a list: five hundred jobs with all that they say of lines would be tens of megabytes. */
export const BulkJobSummary = z
  .object({
    job_id: z.string(),
    kind: z.enum(JOB_KINDS),
    status: z
      .enum(JOB_STATUSES)
      .meta({ description: '`failed`: it could not go on. An import whose lines failed has `succeeded`' }),
    team_id: z.string(),
    format: z.enum(FORMATS),
    created_by: z.string(),
    total: z.int().nullable().meta({ description: 'Rows or lines; null while it is unknown' }),
    processed: z.int(),
    created: z.int(),
    updated: z.int(),
    skipped: z.int(),
    failed: z.int(),
    errors: LineMessages.meta({ description: 'The first 5 lines that failed; the job itself has more' }),
    noted: z.int().meta({ description: 'Number of all notes' }),
    error_code: z.string().nullable().meta({ description: 'Why the job failed', example: 'timed_out' }),
    undo_id: z.string().nullable(),
    undo_status: z.enum(['queued', 'running', 'succeeded', 'failed']).nullable(),
    undone: z.int().meta({ description: 'Records that an undo has removed' }),
    download_url: z.string().nullable().meta({ description: 'Path without host, while the file of an export exists' }),
    expires_at: Timestamp.nullable().meta({ description: 'When the file is removed' }),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'BulkJobSummary' });
export type BulkJobSummary = z.output<typeof BulkJobSummary>;

export const BulkJobRecord = BulkJobSummary.extend({
  errors: LineMessages.meta({ description: 'The first 100 lines that failed' }),
  notes: LineMessages.meta({ description: 'What an import could not take over of records that it has written: the first 100' }),
}).meta({ id: 'BulkJob' });
export type BulkJobRecord = z.output<typeof BulkJobRecord>;
