import { takeJob } from '../../api/automation/runners/claim/take-job.js';
import { type Context, type Services, serviceContext } from '../../api/platform/context.js';
import { completeJob } from '../../api/automation/runners/jobs/complete-job.js';
import { createRunnerJob } from '../../api/automation/runners/jobs/create-job.js';
import { appendLog } from '../../api/automation/runners/logs/append-log.js';
import { createRegistrationToken } from '../../api/automation/runners/registration/create-registration-token.js';
import { registerRunner } from '../../api/automation/runners/registration/register-runner.js';

const LOG = [
  '$ make telemetry-report',
  'Reading 1,204 samples of tank 2',
  'Pressure: min 2.1 bar, max 2.4 bar',
  'Written to report.html',
  '',
].join('\n');

/** A runner that is offline by now, and a job that it has done. */
export async function createOfflineRunner(services: Services, admin: Context, manager: Context, team_id: string): Promise<void> {
  const { token } = await createRegistrationToken(admin, team_id);
  const labels = ['linux', 'x64'];
  const anonymous = serviceContext(services, 'demo');
  const made = await registerRunner(anonymous, { token, name: 'build-1', labels, version: '0.1.0' });
  await createRunnerJob(manager, {
    team_id,
    command: 'make telemetry-report',
    env: { TANK: '2' },
    labels: ['linux'],
    timeout_minutes: 10,
  });
  const runner = { runner_id: made.runner_id, team_id, name: made.name, labels };
  const by = { runner, token: made.runner_token };
  const ctx: Context = { ...serviceContext(services, 'demo'), actor: { type: 'system', name: 'runner', runner } };
  const job = await takeJob(ctx, by);
  if (!job) return;
  await appendLog(ctx, job.job_id, by, { chunk: LOG, offset: 0 });
  await completeJob(ctx, job.job_id, by, { status: 'succeeded', exit_code: 0, output: 'report.html' });
}
