import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { haveActedOnce, type User } from '../caller.js';
import { shell, until } from '../shell.js';
import type { Stack } from '../stack.js';
import type { Pending } from './pending.js';

const RUNNER = resolve(import.meta.dirname, '../../../clients/typescript/runner/main.js');
/** Of each job, s: five of them last longer than the replacement of all replicas. */
const SECONDS = 12;

/** Creates tasks, each of which starts a run that waits for a job of a runner and then comments on the task. Returns the tasks. */
async function dispatchJobs({ call, teamId, projectId }: User, file: string, count: number): Promise<string[]> {
  await call('POST', '/api/automations', {
    name: 'Job of a runner',
    team_id: teamId,
    trigger_type: 'task.created',
    condition: "event.task.title.startsWith('job ')",
    actions: [
      {
        type: 'dispatch_runner_job',
        params: {
          command: `sleep ${SECONDS}; echo "$TASK" >> "$FILE"`,
          env: { TASK: '{{event.task.task_id}}', FILE: file },
        },
      },
      { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: 'the job has run' } },
    ],
  });
  const tasks: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const task = await call<{ task_id: string }>('POST', '/api/tasks', { title: `job ${n}`, project_id: projectId });
    tasks.push(task.task_id);
  }
  return tasks;
}

/** Jobs that a runner takes one after the other while the upgrade goes on. Settled: each command and each run acted once. */
export async function beginJobs(user: User, stack: Stack, count: number): Promise<Pending> {
  const dir = mkdtempSync(join(tmpdir(), 'assent-runner-'));
  const file = join(dir, 'jobs');
  const tasks = await dispatchJobs(user, file, count);
  const ids = tasks.map((id) => `'${id}'`).join();
  await until(`${count} jobs`, 60, async () => {
    const [queued] = await stack.sql(`select count(*) from runner_jobs where status = 'queued'`);
    return Number(queued) >= count;
  });
  const { token } = await user.call<{ token: string }>('POST', '/api/runners/registration-tokens', { team_id: user.teamId });
  await shell([process.execPath, RUNNER, 'register', '--url', stack.url, '--token', token, '--dir', dir]);
  let runner: ChildProcess | undefined;
  return {
    what: `${count} jobs dispatched before the upgrade, taken while workers and APIs were replaced`,
    goal: 'each runs and acts once',
    begin() {
      runner = spawn(process.execPath, [RUNNER, 'run', '--dir', dir], { stdio: 'ignore' });
      return Promise.resolve();
    },
    async settle() {
      try {
        const [comments] = await until('every job', count * SECONDS + 60, async () => {
          const counts = await stack.sql(`select count(*) from comments where task_id in (${ids}) group by task_id`);
          return counts.length === count && counts;
        });
        const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
        const once = lines.length === count && new Set(lines).size === count;
        const holds = once && haveActedOnce(comments, count);
        return { found: holds ? 'each runs and acts once' : `${lines.length} commands, comments ${comments.join()}`, holds };
      } finally {
        runner?.kill();
        rmSync(dir, { recursive: true, force: true });
      }
    },
  };
}
