import { z } from 'zod';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { Id } from '../../../platform/fields.js';
import { cancelRunnerJob } from '../../../automation/runners/jobs/cancel-job.js';
import { firstLine } from '../../../automation/runners/jobs/first-lines.js';
import { getRunnerJob } from '../../../automation/runners/jobs/get-job.js';
import { listRunners } from '../../../automation/runners/registration/list-runners.js';
import { readLog } from '../../../automation/runners/logs/read-log.js';
import { isOpen } from '../../../automation/runners/record/rules.js';
import type { JobDetail } from '../../../automation/runners/schema.js';
import { page, type Page, requireUser } from '../../page.js';
import { namesIn } from '../../wording/names.js';
import { jobPath, runnersPath } from './form.js';
import { logText } from './log-text.js';

/** Bytes of the end of a log that the page shows at first, and again while the job runs. */
const TAIL_BYTES = 32_768;

const JobPath = z.object({ runner_job_id: Id });
const Query = z.object({
  /** Shows the log from this byte on instead of its end. */
  from: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().catch(undefined),
  live: z.unknown().optional(),
});

/** Returns the shown part of the log, which begins with a whole line unless it begins where the user asked. */
async function loadLog(ctx: Context, { job_id, log_size }: JobDetail, from: number | undefined) {
  const offset = from ?? Math.max(0, log_size - TAIL_BYTES);
  const { text, next_offset, size, truncated, deleted, ...log } = await readLog(ctx, job_id, { offset });
  const begin = from === undefined && offset > 0 ? text.indexOf('\n') + 1 : 0;
  return {
    text: logText(text.slice(begin)),
    size,
    truncated,
    deleted,
    /** Bytes before the shown part; null if it is the whole beginning. */
    before: offset > 0 ? log.offset : null,
    next: next_offset < size ? next_offset : null,
  };
}

/** Why a queued job waits: no runner has its labels, those that have them are offline, or they are busy. */
async function computeWait(
  ctx: Context,
  { status, team_id, labels }: JobDetail,
): Promise<'no_runner' | 'offline' | 'busy' | undefined> {
  if (status !== 'queued') return undefined;
  const runners = await listRunners(ctx, { team_id, limit: 500, offset: 0 });
  const able = runners.filter((runner) => labels.every((label) => runner.labels.includes(label)));
  if (able.length === 0) return 'no_runner';
  return able.every((runner) => runner.status === 'offline') ? 'offline' : 'busy';
}

export const runnerJobPages: Page[] = [
  page({
    method: 'get',
    path: '/app/runners/jobs/:runner_job_id',
    access: 'runner.read',
    params: JobPath,
    query: Query,
    async handle({ ctx, me, params, query }) {
      const person = requireUser({ me });
      const job = await getRunnerJob(ctx, params.runner_job_id);
      const [log, names, wait] = await Promise.all([
        loadLog(ctx, job, query.from),
        namesIn(ctx, person, [job]),
        computeWait(ctx, job),
      ]);
      const team = person.teams.find(({ team_id }) => team_id === job.team_id);
      const data = {
        job: { ...job, title: firstLine(job.command), output: job.output === null ? null : logText(job.output) },
        log,
        names,
        wait,
        team: team?.name ?? 'Team',
        variables: Object.keys(job.env).toSorted(),
        path: jobPath(job.job_id),
        back: runnersPath(job.team_id),
        isLive: isOpen(job.status) && query.from === undefined,
        canCancel: isOpen(job.status) && team !== undefined && isAllowed('runner_job.write', team.role as Seat),
      };
      return { view: 'runners/job', title: 'Job', data };
    },
  }),
  page({
    method: 'post',
    path: '/app/runners/jobs/:runner_job_id/cancel',
    access: 'runner_job.write',
    params: JobPath,
    form: z.object({}),
    async handle({ ctx, params }) {
      const { status } = await cancelRunnerJob(ctx, params.runner_job_id);
      const text = status === 'cancelled' ? 'The job was cancelled.' : 'The job will be cancelled.';
      return { to: jobPath(params.runner_job_id), notice: { kind: 'good', text } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: jobPath(params.runner_job_id), notice: { kind: 'bad', text: message } }),
  }),
];
