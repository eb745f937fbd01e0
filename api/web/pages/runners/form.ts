import { z } from 'zod';
import { Id } from '../../../platform/fields.js';
import { CreateJob } from '../../../automation/runners/schema.js';

export const RUNNERS = '/app/runners' as const;
export const runnersPath = (teamId: string): string => `${RUNNERS}?team=${teamId}`;
export const jobPath = (jobId: string): string => `${RUNNERS}/jobs/${jobId}`;

/** Browsers end lines with CRLF, which a shell does not understand. */
const splitLines = (text: unknown): string => (typeof text === 'string' ? text.replaceAll('\r\n', '\n') : '');

/** "linux, x64" as a list. */
const parseLabels = (text: unknown): string[] =>
  splitLines(text)
    .split(/[\s,]+/)
    .filter((label) => label !== '');

/** Lines NAME=value as variables. */
function parseEnv(text: unknown, ctx: z.RefinementCtx): Record<string, string> {
  const lines = splitLines(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => !line.includes('='));
  if (wrong === undefined) {
    return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1)]));
  }
  ctx.addIssue({ code: 'custom', message: `the line ${JSON.stringify(wrong.slice(0, 40))} is not NAME=value` });
  return z.NEVER;
}

/** The fields of a job that its form has. */
export const JobForm = z.object({
  team_id: Id,
  command: z.preprocess(splitLines, CreateJob.shape.command),
  labels: z.preprocess(parseLabels, CreateJob.shape.labels),
  env: z.preprocess(parseEnv, CreateJob.shape.env),
  timeout_minutes: z.preprocess(
    (text) => (typeof text === 'string' && /^[0-9]{1,9}$/.test(text) ? Number(text) : text),
    CreateJob.shape.timeout_minutes,
  ),
});
