import { z } from 'zod';
import { requestExport } from '../../../bulk/export/request-export.js';
import { listBulkJobs } from '../../../bulk/jobs/read-jobs.js';
import { ENTITIES, EXPORT_FORMATS } from '../../../bulk/rules.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { Id } from '../../../platform/fields.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { chooseTeam } from '../../current-team.js';
import { type FormError, page, type Page, requireUser, type View, type Reader } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { jobPath } from './bulk-path.js';
import { IMPORT_CHOICES } from './import-choices.js';

/** Jobs and projects of one team that the page shows. */
const MAX_JOBS = 50;
const MAX_PROJECTS = 500;

/** A filter that holds nonsense does not count. */
export const TeamFilter = z.object({ team: z.uuid().optional().catch(undefined) });

/** A table has one kind of records, which its choice names: `csv:tasks`. Boxes count for the other formats. */
const TABLE = 'csv:';
const withKind = (form: unknown): unknown => {
  const { format, ...fields } = form as Fields;
  if (typeof format !== 'string' || !format.startsWith(TABLE)) return form;
  return { ...fields, format: 'csv', entities: format.slice(TABLE.length) };
};

/** Check boxes: one is sent as a string, several as a list. */
const ChosenExport = z
  .object({
    team_id: Id,
    format: z.enum(EXPORT_FORMATS),
    project_id: z.preprocess((value) => (value === '' ? undefined : value), Id.optional()),
    entities: z.preprocess(
      (value) => (value === undefined ? [] : [value].flat()),
      z.array(z.enum(ENTITIES)).min(1, 'Choose what to export'),
    ),
  })
  .refine(({ format, entities }) => format !== 'csv' || entities.length === 1, {
    path: ['entities'],
    error: 'Choose one kind of records for CSV',
  });
const ExportForm = z.preprocess(withKind, ChosenExport);

export async function loadProjects(ctx: Context, team_id: string): Promise<{ project_id: string; name: string }[]> {
  const texts = await listProjects(ctx, { team_id, limit: MAX_PROJECTS, offset: 0 });
  return texts.map((text) => JSON.parse(text) as { project_id: string; name: string });
}

/** Shows the jobs of a team that the user manages. */
export async function showJobs(
  ctx: Context,
  me: Reader,
  wanted?: string,
  refused: { problem?: FormError; given?: Fields; of?: 'import' } = {},
): Promise<View> {
  const teams = me.teams.filter(({ role }) => isAllowed('bulk.read', role as Seat));
  const team = chooseTeam(me, wanted, teams);
  const [jobs, projects] = team
    ? await Promise.all([
        listBulkJobs(ctx, { team_id: team.team_id, limit: MAX_JOBS, offset: 0 }),
        loadProjects(ctx, team.team_id),
      ])
    : [[], []];
  const { problem, given = {}, of } = refused;
  const isImport = of === 'import';
  const forms = isImport ? { imported: given, importProblem: problem, given: {} } : { imported: {}, problem, given };
  const data = { team, teams, jobs, projects, entities: ENTITIES, ...IMPORT_CHOICES, ...forms };
  return { view: 'bulk/jobs', title: 'Export and import', data, ...(problem && { status: problem.status }) };
}

export const bulkListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/bulk',
    access: 'bulk.read',
    query: TeamFilter,
    handle: ({ ctx, me, query }) => showJobs(ctx, requireUser({ me }), query.team),
  }),
  page({
    method: 'post',
    path: '/app/bulk/export',
    access: 'bulk.run',
    form: ExportForm,
    async handle({ ctx, form }) {
      const { project_id, ...wanted } = form;
      const { job_id } = await requestExport(ctx, { ...wanted, ...(project_id && { project_ids: [project_id] }) });
      return { to: jobPath(job_id) };
    },
    onError: ({ ctx, me, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : undefined;
      return showJobs(ctx, requireUser({ me }), team, { problem, given: form });
    },
  }),
];
