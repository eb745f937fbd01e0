import { z } from 'zod';
import { requestImport } from '../../../bulk/import/request-import.js';
import { ON_CONFLICT } from '../../../bulk/import/write/batch.js';
import { FORMATS } from '../../../bulk/rules.js';
import { JobParams } from '../../../bulk/schema.js';
import { requestUndo } from '../../../bulk/undo/request-undo.js';
import { MAX_UPLOAD_BYTES, uploadInput } from '../../../bulk/uploads/upload-input.js';
import { invalidFields } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import { page, type Page, requireUser } from '../../page.js';
import { jobPath } from './bulk-path.js';
import { showJobs, TeamFilter } from './jobs.js';

const ImportForm = z.object({
  team_id: Id,
  format: z.enum(FORMATS),
  on_conflict: z.enum(ON_CONFLICT),
  project_id: z.preprocess((value) => (value === '' ? undefined : value), Id.optional()),
});

export const importPages: Page[] = [
  page({
    method: 'post',
    path: '/app/bulk/import',
    access: 'bulk.run',
    limit: 'bulk_import',
    // Says of which team the form was, also where the form was not read.
    query: TeamFilter,
    form: ImportForm,
    fileBytes: MAX_UPLOAD_BYTES,
    async handle({ ctx, form, file }) {
      if (!file) throw invalidFields([{ field: 'file', message: 'Choose a file', type: 'required' }]);
      const { file_id } = await uploadInput(ctx, form.team_id, file.bytes);
      const { job_id } = await requestImport(ctx, { ...form, file_id });
      return { to: jobPath(job_id) };
    },
    onError: ({ ctx, me, query, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : query.team;
      return showJobs(ctx, requireUser({ me }), team, { problem, given: form, of: 'import' });
    },
  }),
  page({
    method: 'post',
    path: '/app/bulk/:job_id/undo',
    access: 'bulk.run',
    params: JobParams,
    async handle({ ctx, params }) {
      await requestUndo(ctx, params.job_id);
      return { to: jobPath(params.job_id), notice: { kind: 'good', text: 'The undo has begun.' } };
    },
    onError: ({ params }, { message }) => Promise.resolve({ to: jobPath(params.job_id), notice: { kind: 'bad', text: message } }),
  }),
];
