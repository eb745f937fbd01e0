import { v5 as uuidv5 } from 'uuid';

/** The id of a run's n-th replay: made from both, so that one replay can exist once (durability notes, R3). */
export const retryIdOf = (runId: string, n: number): string => uuidv5(`retry:${n}`, runId);
