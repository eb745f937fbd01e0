import { type Desk, surprise } from '../desk.js';
import type { World } from '../world.js';

/** Bytes of a log: a few chunks. */
const MAX_CHUNKS = 4;

/** The runner of a load, registered when it is first needed. */
const runners = new WeakMap<World, string>();

/** Registers a runner. An attempt whose outcome did not become known leaves a runner that nobody has. */
async function register({ caller, world }: Desk): Promise<string | undefined> {
  const path = '/api/runners/registration-tokens';
  const made = await caller.untilKnown({ method: 'POST', path, token: world.admin, body: { team_id: world.teamId } });
  if (made?.status !== 201) return undefined;
  const body = { token: (made.body as { token: string }).token, name: 'chaos', labels: ['chaos'], version: '1' };
  const outcome = await caller.once({ method: 'POST', path: '/api/runners/register', body });
  if (!outcome.known || outcome.status !== 201) return undefined;
  const token = (outcome.body as { runner_token: string }).runner_token;
  runners.set(world, token);
  return token;
}

type Answer = Awaited<ReturnType<Desk['caller']['untilKnown']>>;

/** Sends a log and repeats what broke off. Returns its bytes as acknowledged; undefined if the job is no longer the runner's. */
async function sendLog(desk: Desk, token: string, jobId: string): Promise<number | undefined> {
  const { caller, random } = desk;
  let offset = 0;
  for (let n = random.between(0, MAX_CHUNKS); n > 0; n -= 1) {
    const chunk = 'x'.repeat(random.between(1, 300));
    const path = `/api/runners/jobs/${jobId}/logs`;
    const answer = await caller.untilKnown({ method: 'POST', path, token, body: { chunk, offset } });
    if (answer?.status !== 200) return undefined;
    offset = (answer.body as { next_offset: number }).next_offset;
  }
  return offset;
}

/** Does a job as its runner: heartbeat, log, end. */
async function doJob(desk: Desk, token: string, jobId: string): Promise<void> {
  const { caller, ledger, random } = desk;
  const path = `/api/runners/jobs/${jobId}`;
  await caller.untilKnown({ method: 'POST', path: `${path}/heartbeat`, token, body: {} });
  const bytes = await sendLog(desk, token, jobId);
  if (bytes === undefined) return;
  const status = random.chance(0.8) ? 'succeeded' : 'failed';
  const ended = await caller.untilKnown({ method: 'POST', path: `${path}/complete`, token, body: { status, exit_code: 0 } });
  if (ended?.status === 200) ledger.jobs.push({ job_id: jobId, status: (ended.body as { status: string }).status, bytes });
  else if (ended && ended.status !== 409) surprise(desk, 'complete a job', ended);
}

/** A job that the runner holds although the response to its claim was lost. */
async function dropJob({ caller }: Desk, token: string, answer: NonNullable<Answer>): Promise<void> {
  const { job_id } = answer.body as { job_id?: string };
  if (!job_id) return;
  const body = { status: 'failed', output: 'The answer of the claim was lost' };
  await caller.untilKnown({ method: 'POST', path: `/api/runners/jobs/${job_id}/complete`, token, body });
}

/** Queues jobs, sometimes cancels one, and does what its runner gets. */
export async function workOnJobs(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const token = runners.get(world) ?? (await register(desk));
  if (!token) return;
  const body = { team_id: world.teamId, command: 'true', labels: ['chaos'] };
  const queued = await caller.once({ method: 'POST', path: '/api/runners/jobs', token: world.manager, body });
  if (queued.known && queued.status !== 201) surprise(desk, 'queue a job', queued);
  if (queued.known && queued.status === 201 && random.chance(0.2)) {
    const path = `/api/runners/jobs/${(queued.body as { job_id: string }).job_id}/cancel`;
    await caller.untilKnown({ method: 'POST', path, token: world.manager });
  }
  const claimed = await caller.untilKnown({ method: 'POST', path: '/api/runners/claim', token, body: { wait_seconds: 1 } });
  if (claimed?.status === 200) await doJob(desk, token, (claimed.body as { job_id: string }).job_id);
  else if (claimed?.status === 409) await dropJob(desk, token, claimed);
  else if (claimed && claimed.status !== 204) surprise(desk, 'claim a job', claimed);
}
