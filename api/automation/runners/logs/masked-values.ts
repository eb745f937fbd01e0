import type { RunnerJob } from '../../../../db/models/runner-job.js';
import { decryptForHolder, encryptForHolder } from '../../../platform/crypto/holder-key.js';

type MaskedFields = Pick<RunnerJob, 'job_id' | 'masked_values' | 'masked_tail'>;

/** Binds the tail to another use than the values. */
const tailOwner = (jobId: string): string => `${jobId}/tail`;

/** Returns the values that the log of a job must not show. `token`: of the runner that holds it, which alone can decrypt them. */
export const maskedValues = ({ job_id, masked_values }: MaskedFields, token: string): string[] =>
  masked_values ? (JSON.parse(decryptForHolder(token, job_id, masked_values)) as string[]) : [];

/** Returns the end of the log that may be the beginning of a secret. */
export const openTail = ({ job_id, masked_tail }: MaskedFields, token: string): string =>
  masked_tail ? decryptForHolder(token, tailOwner(job_id), masked_tail) : '';

export const sealTail = (jobId: string, token: string, tail: string): Buffer | null =>
  tail === '' ? null : encryptForHolder(token, tailOwner(jobId), tail);
