import { z } from 'zod';
import { requestImport } from '../../../bulk/import/request-import.js';
import { MAX_STATE, MAX_STATES } from '../../../bulk/import/schema.js';
import { ON_CONFLICT } from '../../../bulk/import/write/batch.js';
import { FORMATS } from '../../../bulk/rules.js';
import { JobParams } from '../../../bulk/schema.js';
import { requestUndo } from '../../../bulk/undo/request-undo.js';
import { MAX_UPLOAD_BYTES, uploadInput } from '../../../bulk/uploads/upload-input.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import { Id, Text } from '../../../platform/fields.js';
import { TASK_STATUSES } from '../../../work/tasks/rules.js';
import { createStage } from '../../../work/tasks/stages/create-stage.js';
import { CreateStage } from '../../../work/tasks/stages/schema.js';
import { FORM_MESSAGES } from '../../wording/form-messages.js';
import { page, type Page, requireUser } from '../../page.js';
import { jobPath } from './bulk-path.js';
import { CheckQuery, checkPath, NEW_STAGE, showCheck } from './check.js';
import { showJobs, TeamFilter } from './jobs.js';

const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
const list = z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(Text.max(MAX_STATE)).max(MAX_STATES));

const UploadForm = z.object({
  team_id: Id,
  format: optional(z.enum(FORMATS)),
  on_conflict: z.enum(ON_CONFLICT),
  project_id: optional(Id),
});
const ImportForm = UploadForm.extend({ format: z.enum(FORMATS), state: list, place: list });
type ImportForm = z.output<typeof ImportForm>;
const FileParams = z.object({ file_id: Id });

/** @throws VALIDATION_ERROR no stage can be called so | the errors of `createStage` */
async function addStage(ctx: Context, fields: CreateStage): Promise<string> {
  const { data, error } = CreateStage.safeParse(fields, FORM_MESSAGES);
  if (error) throw invalidFields([{ field: 'state', message: `${fields.name}: ${error.issues[0]?.message}`, type: 'custom' }]);
  return (await createStage(ctx, data)).stage_id;
}

/** Returns where the tasks of each state go, with the stages that are new. @throws the errors of `createStage`, and VALIDATION_ERROR */
async function placeStates(ctx: Context, { team_id, state, place }: ImportForm): Promise<Record<string, string>> {
  const placed = new Map<string, string>();
  for (const [at, name] of state.entries()) {
    const chosen = place[at] ?? '';
    const status = TASK_STATUSES.find((one) => chosen === `${NEW_STAGE}${one}`);
    placed.set(name, status ? await addStage(ctx, { team_id, name, status }) : chosen);
  }
  return Object.fromEntries(placed);
}

export const importPages: Page[] = [
  page({
    method: 'post',
    path: '/app/bulk/import',
    access: 'bulk.run',
    limit: 'bulk_import',
    // Says of which team the form was, also where the form was not read.
    query: TeamFilter,
    form: UploadForm,
    fileBytes: MAX_UPLOAD_BYTES,
    async handle({ ctx, form, file }) {
      if (!file) throw invalidFields([{ field: 'file', message: 'Choose a file', type: 'required' }]);
      const { file_id } = await uploadInput(ctx, form.team_id, file.bytes);
      return { to: checkPath(file_id, { ...form, team: form.team_id }) };
    },
    onError: ({ ctx, me, query, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : query.team;
      return showJobs(ctx, requireUser({ me }), team, { problem, given: form, of: 'import' });
    },
  }),
  page({
    method: 'get',
    path: '/app/bulk/import/:file_id',
    access: 'bulk.run',
    limit: 'bulk_import',
    params: FileParams,
    query: CheckQuery,
    handle: ({ ctx, me, params, query }) => showCheck(ctx, requireUser({ me }), params.file_id, query),
  }),
  page({
    method: 'post',
    path: '/app/bulk/import/:file_id',
    access: 'bulk.run',
    limit: 'bulk_import',
    params: FileParams,
    query: CheckQuery,
    form: ImportForm,
    async handle({ ctx, form, params }) {
      const { state: _names, place: _places, ...wanted } = form;
      const { job_id } = await inTransaction(ctx, async (ctx) => {
        const states = await placeStates(ctx, form);
        return requestImport(ctx, { ...wanted, ...params, ...(form.state.length > 0 && { states }) });
      });
      return { to: jobPath(job_id) };
    },
    onError: ({ ctx, me, params, query, form }, problem) =>
      // What is asked too often is not read once more.
      problem.status === 429
        ? Promise.resolve({ to: checkPath(params.file_id, query), notice: { kind: 'bad', text: problem.message } })
        : showCheck(ctx, requireUser({ me }), params.file_id, query, { problem, given: form }),
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
