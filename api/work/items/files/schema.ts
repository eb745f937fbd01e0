import { z } from 'zod';
import { Id, Timestamp } from '../../../platform/fields.js';

/** An empty form field counts as absent. */
const FormId = z
  .string()
  .transform((value) => (value === '' ? undefined : value))
  .pipe(Id.optional());

const teamId = (elsewhere: string) =>
  FormId.optional().meta({
    override: { type: 'string' },
    description: `Required, here or ${elsewhere}; in both places it must be the same, else 422`,
  });
const project_id = FormId.optional().meta({
  override: { type: 'string' },
  description: 'A project of the team; the same in form and query, if it is in both',
});

/** Where an upload goes, as form fields before the file. */
export const UploadFields = z.object({ team_id: teamId('in the query'), project_id });
/** The same in the query, for clients that cannot order their fields. */
export const UploadQuery = z.object({ team_id: teamId('in the form'), project_id });
export type UploadPlace = z.output<typeof UploadFields>;

export const FileParams = z.object({ file_id: Id });

export const FileRecord = z
  .object({
    file_id: z.string(),
    name: z.string(),
    size: z.int().meta({ description: 'Bytes' }),
    content_type: z.string().meta({ description: 'As the client declared it' }),
    sha256: z.string().meta({ description: 'Hexadecimal' }),
    team_id: z.string(),
    project_id: z.string().nullable(),
    created_at: Timestamp,
    download_url: z.string().meta({ description: 'Path without host' }),
  })
  .meta({ id: 'File' });
export type FileRecord = z.output<typeof FileRecord>;
