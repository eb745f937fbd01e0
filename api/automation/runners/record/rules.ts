import type { RunnerJobStatus } from '../../../../db/models/runner-job.js';

/** States of a job that a runner holds. */
export const HELD: readonly RunnerJobStatus[] = ['claimed', 'running'];
/** States of a job that has not ended. */
const OPEN: readonly RunnerJobStatus[] = ['queued', ...HELD];

export const isOpen = (status: RunnerJobStatus): boolean => OPEN.includes(status);
export const isHeld = (status: RunnerJobStatus): boolean => HELD.includes(status);

/** States in which a job can end. */
export type EndStatus = Exclude<RunnerJobStatus, 'queued' | 'claimed' | 'running'>;

/** Why a job ended otherwise than by its command: a fixed text, nothing of what a runner or a user wrote. */
export const END_REASONS = {
  lease_over: 'The runner stopped reporting; what its command did is unknown',
  runner_deleted: 'The runner was deleted; what its command did is unknown',
  team_deleted: 'The team was deleted',
  timed_out: 'The command took longer than the job allows',
  never_claimed: 'No runner with these labels took the job in time',
  cancelled: 'Someone cancelled the job',
  run_ended: 'The run that queued the job has ended',
  not_stopped: 'Someone cancelled the job; its runner did not confirm the stop',
  creator_not_authorized: 'The creator of the job may no longer queue jobs in the team',
  secret_missing: 'A secret of the job does not exist',
  secret_restricted: 'A secret of the job has allowed hosts, so no command may hold it',
  secret_not_authorized: 'A secret of the job was allowed by a user who is no admin any more',
  secret_unreadable: 'A secret of the job cannot be decrypted',
} as const;
export type EndReason = keyof typeof END_REASONS;

/** Labels as they are stored and compared: trimmed, in lower case, each once. */
export const normalizeLabels = (labels: readonly string[]): string[] => [
  ...new Set(labels.map((label) => label.trim().toLowerCase())),
];
