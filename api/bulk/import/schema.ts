import { z } from 'zod';
import { Id, Text } from '../../platform/fields.js';
import { STATUS_CHOICES } from '../../work/tasks/rules.js';
import { FORMATS } from '../rules.js';
import { isForeign } from './records/read-input.js';
import { foldName } from '../../platform/validation/given-name.js';
import { ON_CONFLICT } from './write/batch.js';

/** Longest body of a request that holds the data itself, bytes. */
export const MAX_INLINE_BYTES = 32 * 1024 * 1024;

/** States of a file that a request gives a place, and the longest name of one. */
export const MAX_STATES = 100;
export const MAX_STATE = 200;

export const RequestImport = z
  .object({
    team_id: Id,
    format: z.enum(FORMATS).meta({
      description:
        '`ndjson`, `json` and `csv` as an export writes them; `jira_csv` and `linear_csv` as Jira and Linear export them; `github_json` as `gh issue list --json` prints it',
    }),
    data: z.string().min(1).nullish().meta({ description: 'The text of the file, for at most 32 MB; else `file_id`' }),
    file_id: Id.nullish().meta({ description: 'An upload of `POST /api/bulk/uploads`, or a file of the team' }),
    on_conflict: z
      .enum(ON_CONFLICT)
      .default('error')
      .meta({ description: 'What happens to a record whose id the team has: it fails, it is skipped, or it is updated' }),
    project_id: Id.nullish().meta({ description: 'Project of records that name none; with a format of another product, of all' }),
    states: z
      .record(Text.min(1).max(MAX_STATE), z.union([z.enum(STATUS_CHOICES), Id]))
      .refine((states) => Object.keys(states).length <= MAX_STATES, `must name at most ${MAX_STATES} states`)
      .refine((states) => new Set(Object.keys(states).map(foldName)).size === Object.keys(states).length, 'names a state twice')
      .optional()
      .meta({
        description:
          'Where tasks of a state go, by the name of the state in the file of another product: a status, `canceled`, `duplicate`, or the id of a stage. A state that is not named goes to the stage of its name, else to the status that fits best',
      }),
    run_automations: z
      .boolean()
      .optional()
      .meta({ description: 'Whether what is written starts automations; `false` if missing' }),
    dry_run: z.unknown().optional().meta({ description: 'There is no dry run: any value is a 400', deprecated: true }),
  })
  .refine(({ data, file_id }) => (data == null) !== (file_id == null), {
    path: ['data'],
    error: 'or file_id is required, and not both',
  })
  .refine(({ states, format }) => states === undefined || isForeign(format), {
    path: ['states'],
    error: 'is for files of other products',
  })
  .meta({ id: 'RequestImport' });
export type RequestImport = z.output<typeof RequestImport>;

export const UploadQuery = z.object({ team_id: Id });
export const BulkUpload = z
  .object({
    file_id: z.string(),
    size: z.int(),
    sha256: z.string().meta({ description: 'Of the bytes, lower-case hexadecimal' }),
  })
  .meta({ id: 'BulkUpload' });
export type BulkUpload = z.output<typeof BulkUpload>;
