import { cancelBulkJob } from '../../../bulk/jobs/cancel-job.js';
import { downloadFile } from '../../../bulk/jobs/download-job.js';
import { readMade } from '../../../bulk/jobs/read-made.js';
import { getBulkJob } from '../../../bulk/jobs/read-jobs.js';
import { isEnded } from '../../../bulk/rules.js';
import { JobParams } from '../../../bulk/schema.js';
import { isAdmitted } from '../../../platform/access/access.js';
import { page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import { jobPath } from './bulk-path.js';

async function showJob({ ctx, me }: Pick<PageRequest, 'ctx' | 'me'>, jobId: string): Promise<View> {
  const job = await getBulkJob(ctx, jobId);
  const { teams } = requireUser({ me });
  const made = job.kind === 'import' && isEnded(job.status) ? await readMade(ctx, jobId) : { projects: [], cycles: [] };
  const data = {
    job,
    made,
    isOpen: !isEnded(job.status) || job.undo_status === 'queued' || job.undo_status === 'running',
    canUndo: job.kind === 'import' && isEnded(job.status) && job.created > 0 && [null, 'failed'].includes(job.undo_status),
    canRun: isAdmitted('bulk.run', ctx.actor),
    canCancel: !isEnded(job.status) && isAdmitted('bulk.run', ctx.actor),
    teamName: teams.find(({ team_id }) => team_id === job.team_id)?.name ?? 'Team',
    base: jobPath(jobId),
  };
  return { view: 'bulk/job', title: job.kind === 'export' ? 'Export' : 'Import', data };
}

export const bulkJobPages: Page[] = [
  page({
    method: 'get',
    path: '/app/bulk/:job_id',
    access: 'bulk.read',
    params: JobParams,
    handle: (visit) => showJob(visit, visit.params.job_id),
  }),
  page({
    method: 'get',
    path: '/app/bulk/:job_id/download',
    access: 'bulk.run',
    params: JobParams,
    handle: ({ ctx, params }) => downloadFile(ctx, params.job_id),
  }),
  page({
    method: 'post',
    path: '/app/bulk/:job_id/cancel',
    access: 'bulk.run',
    params: JobParams,
    async handle({ ctx, params }) {
      await cancelBulkJob(ctx, params.job_id);
      return { to: jobPath(params.job_id), notice: { kind: 'good', text: 'Cancelled.' } };
    },
    onError: ({ params }, { message }) => Promise.resolve({ to: jobPath(params.job_id), notice: { kind: 'bad', text: message } }),
  }),
];
