import { v5 as uuidv5 } from 'uuid';

/** Derives the id of a run's n-th replay from both, so that each replay can exist only once. */
export const deriveRetryId = (runId: string, n: number): string => uuidv5(`retry:${n}`, runId);
