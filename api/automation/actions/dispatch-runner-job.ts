import { z } from 'zod';
import { toDomainError } from '../../platform/database/database-errors.js';
import { Command, DEFAULT_TIMEOUT_MINUTES, Env, type JobRecord, Labels, TimeoutMinutes } from '../runners/record/job-schema.js';
import { isOpen } from '../runners/record/rules.js';
import { jobOfStep, type StepJob } from '../runners/record/step-job.js';
import { ActionRefused } from '../../gate/contract/action-refused.js';
import type { OutboundAction, OutboundContext, OutboundResult } from '../../gate/contract/action-type.js';

/** The end of a job wakes the run; after this it looks by itself, ms. */
const LOOK_AFTER_MS = 900_000;

/** Values of an event that are no text become JSON. */
const toText = (value: unknown): unknown =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

const Params = z.object({
  labels: Labels.default([]),
  command: Command.refine(
    (command) => !command.includes('{{'),
    'must not contain templates or secrets: pass them in env, so that no text from outside becomes code',
  ),
  env: z
    .record(z.string(), z.unknown().transform(toText))
    .pipe(Env)
    .optional()
    .meta({ description: 'Variables of the command; the only place for templates and `{{secret:NAME}}`' }),
  timeout_minutes: TimeoutMinutes.optional(),
});
type Params = z.output<typeof Params>;

/** Splits the values at the marks that stand for secrets. A mark is random, so no text of an event contains one. */
function withReferences(env: Record<string, string>, marks: OutboundContext['secrets']): StepJob['env'] {
  const names = new Map([...marks].map(([name, mark]) => [mark, name]));
  const pattern = names.size === 0 ? undefined : new RegExp(`(${[...names.keys()].join('|')})`);
  const pieces = (value: string) =>
    (pattern ? value.split(pattern) : [value])
      .filter((piece) => piece !== '')
      .map((piece) => {
        const secret = names.get(piece);
        return secret === undefined ? piece : { secret };
      });
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, pieces(value)]));
}

/** What a job that has ended means for the step. A failed one is never tried again: its command may have acted. */
function toResult({ job_id, status, exit_code, error }: JobRecord, output: string | null): OutboundResult {
  const result = { job_id, status, exit_code, ...(output === null ? {} : { output }) };
  if (status === 'succeeded') return { output: result };
  const message = error ?? `The command failed${exit_code === null ? '' : ` with exit code ${exit_code}`}`;
  return { output: result, failure: { code: `job_${status}`, message, isRetryable: false } };
}

/** Queues a job for the runners of the team. The run waits until it has ended; then a failed job fails the action. */
export const dispatchRunnerJob: OutboundAction<Params> = {
  type: 'dispatch_runner_job',
  label: 'Run a job on a runner',
  category: 'core',
  params: Params,
  templated: ['env'],
  secrets: 'later',
  answersLater: true,
  async send({ creator, run, attempt, secrets, secret_author_ids }, { labels, command, env = {}, timeout_minutes }) {
    const { team_id, run_id, index, depth } = run;
    if (team_id === null) throw new ActionRefused({ code: 'no_team', message: 'A personal automation has no runners' });
    try {
      const { job, output } = await jobOfStep(creator, {
        team_id,
        command,
        labels,
        env: withReferences(env, secrets),
        timeout_minutes: timeout_minutes ?? DEFAULT_TIMEOUT_MINUTES,
        secret_user_ids: secrets.size > 0 ? secret_author_ids : [],
        step: { run_id, index, attempt, depth },
      });
      return isOpen(job.status) ? { output: {}, lookAfterMs: LOOK_AFTER_MS } : toResult(job, output);
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (error.status === 500) throw thrown;
      throw new ActionRefused({ code: error.code.toLowerCase(), message: error.message }, error.status > 500);
    }
  },
};
