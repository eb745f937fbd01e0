import { z } from 'zod';
import { JOB_STATUSES } from '../../../../db/models/runner-job.js';
import { Text, Timestamp } from '../../../platform/fields.js';
import { normalizeLabels } from './rules.js';

const MAX_LABELS = 20;
const MAX_COMMAND = 10_000;
const MAX_VARIABLES = 50;
/** Bytes of all values of a job's variables together. */
const MAX_ENV_BYTES = 65_536;
/** Longest time of a job, minutes. */
const MAX_MINUTES = 360;

// Spells out both cases: the pattern is tested before the letters become lower case.
const Label = z
  .string()
  .trim()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must have 1 to 64 letters, digits, dots, hyphens or underscores, a letter or digit first',
  );

export const Labels = z
  .array(Label)
  .max(MAX_LABELS)
  .overwrite(normalizeLabels)
  .meta({ description: 'Upper and lower case are the same', example: ['linux', 'x64'] });

export const Command = Text.min(1)
  .max(MAX_COMMAND)
  .refine((command) => command.trim() !== '', 'must not be blank')
  .meta({ description: 'Run by a shell on the runner, in a fresh folder', example: 'make deploy' });

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const Env = z
  .record(z.string(), Text)
  .refine((env) => Object.keys(env).length <= MAX_VARIABLES, `must have at most ${MAX_VARIABLES} variables`)
  .refine(
    (env) => Object.keys(env).every((name) => VARIABLE.test(name)),
    'must have names of letters, digits and underscores, no digit first, at most 128 characters',
  )
  .refine(
    (env) => !Object.keys(env).some((name) => name.toUpperCase().startsWith('ASSENT_')),
    'must not have names that begin with ASSENT_, which the runner sets',
  )
  .refine(
    (env) => Object.values(env).reduce((sum, value) => sum + Buffer.byteLength(value), 0) <= MAX_ENV_BYTES,
    `must have at most ${MAX_ENV_BYTES} bytes in all values together`,
  );

export const TimeoutMinutes = z.int().min(1).max(MAX_MINUTES);
export const DEFAULT_TIMEOUT_MINUTES = 60;

export const jobFields = {
  job_id: z.string(),
  team_id: z.string(),
  runner_id: z.string().nullable(),
  runner_name: z.string().nullable(),
  run_id: z.string().nullable().meta({ description: 'The run of an automation that waits for it' }),
  status: z.enum(JOB_STATUSES),
  labels: z.array(z.string()),
  timeout_minutes: z.int(),
  attempts: z.int().meta({ description: '0 until a runner takes it, then 1: a job never runs twice' }),
  cancel_requested: z.boolean(),
  created_by: z.string(),
  queued_at: Timestamp,
  started_at: Timestamp.nullable().meta({ description: 'When a runner took it' }),
  finished_at: Timestamp.nullable(),
  exit_code: z.int().nullable(),
  error: z.string().nullable().meta({ description: 'Why it ended otherwise than by its command' }),
};
export const JobRecord = z.object(jobFields).meta({ id: 'RunnerJob' });
export type JobRecord = z.output<typeof JobRecord>;
