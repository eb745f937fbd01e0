import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { base, call, printStep, until } from './helpers.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'clients', 'typescript', 'runner', 'main.js');
const COMMAND =
  'echo "count down for $ROCKET"; for n in 3 2 1; do echo "$n"; sleep 0.2; done; echo "lift-off" > "$ASSENT_OUTPUT"';

/** A runner as `npm run runner` starts it, in a folder of its own. */
function startProgram(dir: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  return spawn(process.execPath, [PROGRAM, ...args, '--dir', dir], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: [...stdio],
  });
}

/** Registers a runner for the team. Returns its id. */
async function register(ada: string, team_id: string, dir: string): Promise<string> {
  const { token } = (await call('POST', '/api/runners/registration-tokens', { token: ada, body: { team_id } })).body;
  const name = `Demo ${new Date().toISOString().slice(11, 23)}`;
  const args = ['register', '--url', base, '--name', name, '--labels', 'demo'];
  const [code] = (await once(startProgram(dir, args, { ASSENT_REGISTRATION_TOKEN: token as string }), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the runner could not be registered: it ended with ${code}`);
  const runners = (await call('GET', `/api/runners?team_id=${team_id}&limit=500`, { token: ada })).body;
  const { runner_id } = (runners as { runner_id: string; name: string }[]).find((each) => each.name === name) ?? {
    runner_id: '',
  };
  printStep(
    `Ada registers a runner on this machine: ${name}`,
    'outbound requests only; its token is in a file that only its user can read',
  );
  return runner_id;
}

/** Max queues a job, and a runner on this machine takes it. Returns the job's id. */
async function runJob(max: string, team_id: string): Promise<string> {
  const body = { team_id, command: COMMAND, env: { ROCKET: 'Apollo' }, labels: ['demo'], timeout_minutes: 1 };
  const { job_id } = (await call('POST', '/api/runners/jobs', { token: max, body })).body;
  const job = await until('the job', async () => {
    const { body: current } = await call('GET', `/api/runners/jobs/${job_id}`, { token: max });
    return current.finished_at !== null && current;
  });
  if (job.status !== 'succeeded') throw new Error(`the job ended ${job.status}: ${job.error}`);
  const { text } = (await call('GET', `/api/runners/jobs/${job_id}/logs`, { token: max })).body;
  printStep(
    `Max queues a job; ${job.runner_name} takes it, and it ${job.status}`,
    `log: ${String(text).trim().split('\n').join(' · ')}`,
  );
  printStep('Its output, kept with the job as its result', JSON.stringify(job.output));
  return job_id as string;
}

/** Ada registers a runner on this machine, Max queues a job for it, and the runner stops and is deleted. Returns the job's workflow. */
export async function playRunner(ada: string, max: string): Promise<Record<string, string>> {
  const teams = (await call('GET', '/api/teams', { token: ada })).body as { team_id: string; name: string }[];
  const teamId = teams.find(({ name }) => name === 'Acme')?.team_id ?? '';
  const dir = mkdtempSync(join(tmpdir(), 'assent-demo-runner-'));
  const runnerId = await register(ada, teamId, dir);
  const runner = startProgram(dir, ['run']);
  try {
    const jobId = await runJob(max, teamId);
    return { 'the runner’s job': `job:${jobId}` };
  } finally {
    runner.kill('SIGTERM');
    await once(runner, 'exit');
    await call('DELETE', `/api/runners/${runnerId}`, { token: ada });
    rmSync(dir, { recursive: true, force: true });
  }
}
