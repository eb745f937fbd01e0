import { z } from 'zod';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { Id } from '../../../platform/fields.js';
import { createRunnerJob } from '../../../automation/runners/jobs/create-job.js';
import { firstLines } from '../../../automation/runners/jobs/first-lines.js';
import { listRunnerJobs } from '../../../automation/runners/jobs/list-jobs.js';
import { createRegistrationToken } from '../../../automation/runners/registration/create-registration-token.js';
import { deleteRunner } from '../../../automation/runners/registration/delete-runner.js';
import { listRunners } from '../../../automation/runners/registration/list-runners.js';
import { ListJobs, RunnerParams } from '../../../automation/runners/schema.js';
import { chooseTeam } from '../../current-team.js';
import { type FormError, page, type Page, requireUser, type View, type Reader } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { namesIn } from '../../wording/names.js';
import { JobForm, jobPath, RUNNERS, runnersPath } from './form.js';

const MAX_RUNNERS = 500;
const PAGE_SIZE = 25;
const STATES = ['queued', 'running', 'succeeded', 'failed', 'lost', 'cancelled', 'timed_out'] as const;

/** A filter that holds nonsense does not count. */
const Filter = z.object({
  team: z.uuid().optional().catch(undefined),
  status: ListJobs.shape.status.catch(undefined),
  before: z.uuid().optional().catch(undefined),
  live: z.unknown().optional(),
});
type Filter = z.output<typeof Filter>;
interface RejectedForm {
  problem?: FormError;
  given?: Fields;
}

function buildAddress(teamId: string, { status, before }: Pick<Filter, 'status' | 'before'>): string {
  const given = Object.entries({ team: teamId, status, before }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return `${RUNNERS}?${new URLSearchParams(given).toString()}`;
}

/** Returns the shown page of jobs, with the addresses of the pages beside it. */
async function loadJobs(ctx: Context, team_id: string, { status, before }: Filter) {
  const found = await listRunnerJobs(ctx, { team_id, status, before, limit: PAGE_SIZE + 1 });
  const jobs = found.slice(0, PAGE_SIZE);
  const last = found.length > PAGE_SIZE ? jobs.at(-1) : undefined;
  const commands = await firstLines(
    ctx,
    team_id,
    jobs.map(({ job_id }) => job_id),
  );
  return {
    jobs: jobs.map((job) => ({ ...job, title: commands[job.job_id] ?? 'Deleted' })),
    address: buildAddress(team_id, { status, before }),
    first: before && buildAddress(team_id, { status, before: undefined }),
    next: last && buildAddress(team_id, { status, before: last.job_id }),
  };
}

async function showRunners(ctx: Context, me: Reader, filter: Filter = {}, { problem, given }: RejectedForm = {}): Promise<View> {
  const teams = me.teams.filter(({ role }) => isAllowed('runner.read', role as Seat));
  const team = chooseTeam(me, filter.team, teams);
  const [runners, list] = team
    ? await Promise.all([
        listRunners(ctx, { team_id: team.team_id, limit: MAX_RUNNERS, offset: 0 }),
        loadJobs(ctx, team.team_id, filter),
      ])
    : [[], { jobs: [], address: RUNNERS }];
  const data = {
    team,
    teams,
    runners,
    ...list,
    names: await namesIn(ctx, me, list.jobs),
    status: filter.status,
    states: team ? STATES.map((status) => ({ status, address: buildAddress(team.team_id, { status, before: undefined }) })) : [],
    canWrite: team !== undefined && isAllowed('runner_job.write', team.role as Seat),
    canManage: team !== undefined && isAllowed('runner.manage', team.role as Seat),
    problem,
    given: given ?? {},
  };
  return { view: 'runners/list', title: 'Runners', data, ...(problem && { status: problem.status }) };
}

export const runnerListPages: Page[] = [
  page({
    method: 'get',
    path: RUNNERS,
    access: 'runner.read',
    query: Filter,
    handle: ({ ctx, me, query }) => showRunners(ctx, requireUser({ me }), query),
  }),
  page({
    method: 'post',
    path: '/app/runners/tokens',
    access: 'runner.manage',
    form: z.object({ team_id: Id }),
    /** The token is shown once, in this response: a redirect would have to store it. */
    async handle({ ctx, form }) {
      const token = await createRegistrationToken(ctx, form.team_id);
      const data = { token, url: ctx.config.BASE_URL, back: runnersPath(form.team_id) };
      return { view: 'runners/token', title: 'Registration token', data };
    },
    onError: ({ ctx, me }, problem) => showRunners(ctx, requireUser({ me }), {}, { problem }),
  }),
  page({
    method: 'post',
    path: '/app/runners/jobs',
    access: 'runner_job.write',
    form: JobForm,
    async handle({ ctx, form }) {
      const { job_id } = await createRunnerJob(ctx, form);
      return { to: jobPath(job_id), notice: { kind: 'good', text: 'The job is queued.' } };
    },
    onError: ({ ctx, me, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : undefined;
      return showRunners(ctx, requireUser({ me }), { team }, { problem, given: form });
    },
  }),
  page({
    method: 'post',
    path: '/app/runners/:runner_id/delete',
    access: 'runner.manage',
    params: RunnerParams,
    query: Filter.pick({ team: true }),
    form: z.object({}),
    async handle({ ctx, params, query }) {
      await deleteRunner(ctx, params.runner_id);
      const to = query.team ? runnersPath(query.team) : RUNNERS;
      return { to, notice: { kind: 'good', text: 'The runner was deleted. Its program ends by itself.' } };
    },
    onError: (_, { message }) => Promise.resolve({ to: RUNNERS, notice: { kind: 'bad', text: message } }),
  }),
];
